# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# cmake -DNM=nm -DWITHOUT=program [-DWITH=program] -P no-mlir.cmake
#
# The program WITHOUT defines and needs no symbol of MLIR or LLVM; WITH has both, which shows that they would be seen.
cmake_minimum_required(VERSION 3.25)

function(find_symbols program result)
  execute_process(COMMAND ${NM} -C ${program} OUTPUT_VARIABLE symbols RESULT_VARIABLE failed)
  if(failed OR NOT symbols MATCHES "qrt::qrunMain")
    message(FATAL_ERROR "cannot list the symbols of ${program}")
  endif()
  set(found "")
  foreach(part IN ITEMS mlir:: llvm:: LLVM)
    string(FIND "${symbols}" ${part} position)
    if(NOT position EQUAL -1)
      string(SUBSTRING "${symbols}" ${position} 80 symbol)
      list(APPEND found ${part})
      message(STATUS "${program}: ${symbol}")
    endif()
  endforeach()
  set(${result} "${found}" PARENT_SCOPE)
endfunction()

find_symbols(${WITHOUT} found)
if(found)
  message(SEND_ERROR "${WITHOUT}: expected no symbol of MLIR or LLVM, got some of ${found}")
endif()
if(WITH)
  find_symbols(${WITH} found)
  if(NOT "mlir::" IN_LIST found OR NOT "llvm::" IN_LIST found)
    message(SEND_ERROR "${WITH}: expected symbols of MLIR and LLVM, got none")
  endif()
endif()
