# megadlm_library(<folder> USES <folder>... LINK <external target>... [TORCH])
#
# One static library of src/<folder>. USES is the folder's permission: scripts/check-includes reads it here
# and refuses an include that is not named. TORCH gives libtorch and the precompiled header.
function(megadlm_library NAME)
  cmake_parse_arguments(ARG "TORCH" "" "USES;LINK" ${ARGN})
  file(GLOB_RECURSE SOURCES CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/src/${NAME}/*.cpp")
  # Kernels under cpu/ are built once per instruction set (see src/ops/simd).
  list(FILTER SOURCES EXCLUDE REGEX "/cpu/[^/]*\\.cpp$")
  if(NOT SOURCES)
    add_library(megadlm_${NAME} INTERFACE)
    set(SCOPE INTERFACE)
  else()
    add_library(megadlm_${NAME} STATIC ${SOURCES})
    set(SCOPE PUBLIC)
  endif()
  target_include_directories(megadlm_${NAME} ${SCOPE} "${CMAKE_SOURCE_DIR}/src")
  list(TRANSFORM ARG_USES PREPEND megadlm_)
  target_link_libraries(megadlm_${NAME} ${SCOPE} ${ARG_USES} ${ARG_LINK})
  if(ARG_TORCH)
    target_link_libraries(megadlm_${NAME} ${SCOPE} Libtorch::cpu)
    if(SOURCES)
      target_precompile_headers(megadlm_${NAME} REUSE_FROM megadlm_torch_header)
    endif()
  endif()
endfunction()

# The one precompiled header that every torch-using target shares.
function(megadlm_torch_header)
  file(WRITE "${CMAKE_BINARY_DIR}/torch_header.cpp" "")
  add_library(megadlm_torch_header OBJECT "${CMAKE_BINARY_DIR}/torch_header.cpp")
  target_link_libraries(megadlm_torch_header PUBLIC Libtorch::cpu)
  target_precompile_headers(megadlm_torch_header PRIVATE <ATen/ATen.h>
                            <torch/csrc/autograd/custom_function.h>)
endfunction()
