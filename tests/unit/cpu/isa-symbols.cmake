# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# cmake -DNM=nm -DISA=v4 -DOBJECTS=a.o|b.o -P isa-symbols.cmake
#
# The linker keeps one copy of an inline function that several objects define. So an object that is compiled for a
# better processor must not define one that others may define too, or code for every processor could come to call it:
# each weak symbol must name the namespace of its instruction set.
string(REPLACE "|" ";" objects "${OBJECTS}")
execute_process(COMMAND ${NM} --defined-only ${objects} OUTPUT_VARIABLE symbols RESULT_VARIABLE failed)
if(failed OR NOT symbols MATCHES "3qrt3cpu${ISA_MANGLED}")
  message(FATAL_ERROR "cannot list the symbols of the kernels for ${ISA}")
endif()
string(REGEX MATCHALL "[^\n]* [WVuwv] [^\n]*" weak "${symbols}")
foreach(symbol IN LISTS weak)
  if(NOT symbol MATCHES "3qrt3cpu${ISA_MANGLED}")
    message(SEND_ERROR "compiled for ${ISA}, but the linker may use it everywhere: ${symbol}")
  endif()
endforeach()
