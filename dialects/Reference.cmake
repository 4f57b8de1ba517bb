# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# cmake -DGENERATED=build/dialects -DREFERENCE=docs/dialects [-DWRITE=ON] -P Reference.cmake
#
# Compares the dialects' reference with what the .td files give, or with WRITE writes it.
foreach(dialect Qt Step)
  string(TOLOWER ${dialect} name)
  file(READ ${GENERATED}/${name}/${dialect}.md text)
  # A table of contents that nothing expands.
  string(REPLACE "[TOC]\n\n" "" text "${text}")
  set(path ${REFERENCE}/${name}.md)
  set(current "")
  if(EXISTS ${path})
    file(READ ${path} current)
  endif()
  if("${current}" STREQUAL "${text}")
    continue()
  endif()
  if(NOT WRITE)
    message(FATAL_ERROR "${path} is not what the .td files of the dialect give: build the target `docs` and commit what it writes")
  endif()
  file(WRITE ${path} "${text}")
  message(STATUS "wrote ${path}")
endforeach()
