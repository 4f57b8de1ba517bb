# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Where CUDA toolkit 13 is: the toolkit itself, or what `tools/setup.sh --cuda` takes of it from Python wheels.
#
# Of a toolkit the build uses cuda.h alone, for the CUDA backend. The programs open NVRTC (to compile kernels) and cuBLASLt
# while they run, and look for them first where the build found the toolkit. Sets
#   QCC_CUDA_INCLUDE    the folder of cuda.h; empty where there is no toolkit: the CUDA backend is left out
#   QCC_CUDA_LIBRARIES  the folder of libnvrtc.so.13 and, in a whole toolkit, libcublasLt.so.13
set(QCC_CUDA_TOOLKIT "" CACHE STRING "Folder of CUDA toolkit 13; empty: .cuda/ or /usr/local/cuda; OFF: build without CUDA")

# qcc_cuda_toolkit_version(FOLDER VARIABLE PROBLEM): "13.0", or else what is wrong with the folder.
function(qcc_cuda_toolkit_version folder variable problem)
  set(${variable} "" PARENT_SCOPE)
  if(NOT EXISTS ${folder}/include/cuda.h)
    set(${problem} "${folder} has no include/cuda.h" PARENT_SCOPE)
    return()
  endif()
  file(STRINGS ${folder}/include/cuda.h line REGEX "^#define CUDA_VERSION +[0-9]+")
  string(REGEX MATCH "[0-9]+" number "${line}")
  math(EXPR major "0${number} / 1000")
  math(EXPR minor "0${number} % 1000 / 10")
  if(NOT major EQUAL 13)
    set(${problem} "${folder} has CUDA ${major}.${minor}, not 13" PARENT_SCOPE)
  elseif(NOT EXISTS ${folder}/lib/libnvrtc.so.13 AND NOT EXISTS ${folder}/lib64/libnvrtc.so.13)
    set(${problem} "${folder} has no lib/libnvrtc.so.13" PARENT_SCOPE)
  else()
    set(${variable} ${major}.${minor} PARENT_SCOPE)
  endif()
endfunction()

function(qcc_find_cuda_toolkit)
  set(QCC_CUDA_INCLUDE "" PARENT_SCOPE)
  set(QCC_CUDA_LIBRARIES "" PARENT_SCOPE)
  if(QCC_CUDA_TOOLKIT STREQUAL "OFF")
    message(STATUS "CUDA backend: left out, QCC_CUDA_TOOLKIT is OFF")
    return()
  endif()
  set(folders ${QCC_CUDA_TOOLKIT})
  if(NOT folders)
    set(folders ${PROJECT_SOURCE_DIR}/.cuda/nvidia/cu13 /usr/local/cuda)
  endif()
  set(problems "")
  foreach(folder IN LISTS folders)
    qcc_cuda_toolkit_version(${folder} version problem)
    if(version)
      message(STATUS "CUDA backend: with CUDA ${version} of ${folder}")
      set(libraries ${folder}/lib)
      if(NOT EXISTS ${libraries}/libnvrtc.so.13)
        set(libraries ${folder}/lib64)
      endif()
      set(QCC_CUDA_INCLUDE ${folder}/include PARENT_SCOPE)
      set(QCC_CUDA_LIBRARIES ${libraries} PARENT_SCOPE)
      return()
    endif()
    list(APPEND problems ${problem})
  endforeach()
  list(JOIN problems "; " problems)
  if(QCC_CUDA_TOOLKIT)
    message(FATAL_ERROR "QCC_CUDA_TOOLKIT: expected the folder of CUDA toolkit 13, or OFF: ${problems}")
  endif()
  message(STATUS "CUDA backend: left out, what is built here runs on no GPU: ${problems}. "
                 "`tools/setup.sh --cuda` installs what is missing in .cuda/; QCC_CUDA_TOOLKIT names a toolkit elsewhere; "
                 "then configure again")
endfunction()

qcc_find_cuda_toolkit()
