# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# cmake -DOUT=FILE.inc -DDIGEST=FILE.inc "-DFILES=a|b" -P EmbedText.cmake: writes for each file a line QRT_TEXT(name, raw
# string literal), and a string literal of the SHA-256 of these lines. Raw strings are cut into pieces, since compilers
# limit the length of one.
string(REPLACE "|" ";" FILES "${FILES}")
set(text "")
foreach(file IN LISTS FILES)
  get_filename_component(name ${file} NAME)
  file(READ ${file} content HEX)
  # Pieces of 8,000 bytes, as two hexadecimal digits each.
  string(LENGTH "${content}" length)
  set(pieces "")
  set(at 0)
  while(at LESS length)
    string(SUBSTRING "${content}" ${at} 32000 piece)
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "\\\\x\\1" piece "${piece}")
    string(APPEND pieces "\n\"${piece}\"")
    math(EXPR at "${at} + 32000")
  endwhile()
  string(APPEND text "QRT_TEXT(\"${name}\",${pieces})\n")
endforeach()
file(WRITE ${OUT} "${text}")
string(SHA256 digest "${text}")
file(WRITE ${DIGEST} "\"${digest}\"\n")
