# megadlm_isa_kernels(<target>): builds each src/ops/*/cpu/*.cpp once per instruction set into <target>. A copy is
# compiled in the namespace MEGADLM_ISA; ops/simd/isa.h chooses one at run time.
function(megadlm_isa_kernels TARGET)
  file(GLOB KERNELS CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/src/ops/*/cpu/*.cpp")
  set(FLAGS_portable "")
  set(FLAGS_avx2 -mavx2 -mfma -mf16c)
  # g++ 12 warns of its own AVX-512 intrinsics (GCC bug 105593).
  set(FLAGS_avx512 -Wno-maybe-uninitialized -mavx512f -mavx512bw -mavx512vl -mavx512dq -mfma -mf16c -mprefer-vector-width=512)
  set(FLAGS_avx512_bf16 ${FLAGS_avx512} -mavx512bf16)
  foreach(ISA portable avx2 avx512 avx512_bf16)
    add_library(megadlm_kernels_${ISA} OBJECT ${KERNELS})
    target_include_directories(megadlm_kernels_${ISA} PRIVATE "${CMAKE_SOURCE_DIR}/src")
    target_compile_definitions(megadlm_kernels_${ISA} PRIVATE MEGADLM_ISA=${ISA})
    target_compile_options(megadlm_kernels_${ISA} PRIVATE ${FLAGS_${ISA}} -O3 -fopenmp-simd -fno-math-errno
                                                          -fno-trapping-math)
    target_sources(${TARGET} PRIVATE $<TARGET_OBJECTS:megadlm_kernels_${ISA}>)
  endforeach()
endfunction()
