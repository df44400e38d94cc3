# Imported targets of libtorch, without the wheel's own CMake config (which demands a CUDA toolkit).
#
#   Libtorch::cpu   libtorch_cpu and libc10
#   Libtorch::cuda  libtorch_cuda and libc10_cuda, only with -DMEGADLM_CUDA=ON
#
# The libtorch inside the Python wheel of .venv is taken unless -DLIBTORCH_ROOT=<folder with include/ and
# lib/> names another.
if(NOT LIBTORCH_ROOT)
  file(GLOB LIBTORCH_CANDIDATES
       "${CMAKE_SOURCE_DIR}/.venv/lib/python3*/site-packages/torch")
  list(LENGTH LIBTORCH_CANDIDATES LIBTORCH_COUNT)
  if(LIBTORCH_COUNT GREATER 0)
    list(GET LIBTORCH_CANDIDATES 0 LIBTORCH_ROOT)
  endif()
endif()

find_path(LIBTORCH_INCLUDE_DIR ATen/ATen.h PATHS "${LIBTORCH_ROOT}/include" NO_DEFAULT_PATH)
find_library(LIBTORCH_CPU_LIBRARY torch_cpu PATHS "${LIBTORCH_ROOT}/lib" NO_DEFAULT_PATH)
find_library(LIBTORCH_C10_LIBRARY c10 PATHS "${LIBTORCH_ROOT}/lib" NO_DEFAULT_PATH)

set(LIBTORCH_VERSION "")
if(LIBTORCH_INCLUDE_DIR AND EXISTS "${LIBTORCH_INCLUDE_DIR}/torch/headeronly/version.h")
  file(STRINGS "${LIBTORCH_INCLUDE_DIR}/torch/headeronly/version.h" LIBTORCH_VERSION_LINES
       REGEX "define TORCH_VERSION_(MAJOR|MINOR|PATCH)")
  foreach(line IN LISTS LIBTORCH_VERSION_LINES)
    string(REGEX MATCH "[0-9]+$" number "${line}")
    list(APPEND LIBTORCH_VERSION_PARTS "${number}")
  endforeach()
  list(JOIN LIBTORCH_VERSION_PARTS "." LIBTORCH_VERSION)
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(
  Libtorch
  REQUIRED_VARS LIBTORCH_CPU_LIBRARY LIBTORCH_C10_LIBRARY LIBTORCH_INCLUDE_DIR
  VERSION_VAR LIBTORCH_VERSION
  REASON_FAILURE_MESSAGE "run scripts/setup, or give -DLIBTORCH_ROOT=<folder with include/ and lib/>")

if(Libtorch_FOUND AND NOT TARGET Libtorch::cpu)
  # The wheel's include folder carries another version of fmt than the system's spdlog is built with; the
  # system's must be found first.
  find_path(FMT_INCLUDE_DIR fmt/format.h PATHS /usr/include /usr/local/include NO_DEFAULT_PATH REQUIRED)
  file(MAKE_DIRECTORY "${CMAKE_BINARY_DIR}/system_fmt")
  file(CREATE_LINK "${FMT_INCLUDE_DIR}/fmt" "${CMAKE_BINARY_DIR}/system_fmt/fmt" SYMBOLIC)
  include_directories(BEFORE SYSTEM "${CMAKE_BINARY_DIR}/system_fmt")

  add_library(Libtorch::c10 SHARED IMPORTED)
  set_target_properties(Libtorch::c10 PROPERTIES IMPORTED_LOCATION "${LIBTORCH_C10_LIBRARY}")
  target_include_directories(
    Libtorch::c10 SYSTEM INTERFACE "${LIBTORCH_INCLUDE_DIR}"
                                   "${LIBTORCH_INCLUDE_DIR}/torch/csrc/api/include")
  add_library(Libtorch::cpu SHARED IMPORTED)
  set_target_properties(Libtorch::cpu PROPERTIES IMPORTED_LOCATION "${LIBTORCH_CPU_LIBRARY}")
  # at::parallel_for is an OpenMP loop in a header. The wheel carries its own OpenMP run time, and one process
  # must not load two.
  target_compile_options(Libtorch::cpu INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-fopenmp>)
  file(GLOB LIBTORCH_OPENMP "${LIBTORCH_ROOT}/lib/libgomp*.so*")
  if(NOT LIBTORCH_OPENMP)
    find_package(OpenMP REQUIRED COMPONENTS CXX)
    set(LIBTORCH_OPENMP OpenMP::OpenMP_CXX)
  endif()
  target_link_libraries(Libtorch::cpu INTERFACE Libtorch::c10 ${LIBTORCH_OPENMP})

  # The wheel's CPU library needs the CUDA profiling and run-time libraries of its sibling packages.
  file(GLOB LIBTORCH_SIBLINGS "${LIBTORCH_ROOT}/../nvidia/*/lib")
  target_link_options(Libtorch::cpu INTERFACE
                      "LINKER:--disable-new-dtags,-rpath,${LIBTORCH_ROOT}/lib")
  foreach(folder IN LISTS LIBTORCH_SIBLINGS)
    target_link_options(Libtorch::cpu INTERFACE "LINKER:-rpath-link,${folder}")
  endforeach()

  if(MEGADLM_CUDA)
    find_package(CUDAToolkit REQUIRED)
    add_library(Libtorch::cuda INTERFACE IMPORTED)
    # Nothing in the program names a symbol of libtorch_cuda: it registers its kernels when it is loaded.
    target_link_libraries(
      Libtorch::cuda INTERFACE Libtorch::cpu "-Wl,--no-as-needed" "${LIBTORCH_ROOT}/lib/libtorch_cuda.so"
                               "${LIBTORCH_ROOT}/lib/libc10_cuda.so" "-Wl,--as-needed" CUDA::cudart)
  endif()
endif()
