// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The element types of tensors, in programs, kernels and files: one list for all of them.
#ifndef RUNTIME_BASE_DTYPE_H
#define RUNTIME_BASE_DTYPE_H

#include <cstdint>
#include <optional>
#include <string_view>

namespace qrt {

// X(enumerator, value in files, bytes an element, our name, safetensors' name)
#define QRT_DTYPES(X)                                                                                                  \
  X(F32, 0, 4, "f32", "F32")                                                                                           \
  X(BF16, 1, 2, "bf16", "BF16")                                                                                        \
  X(F16, 2, 2, "f16", "F16")                                                                                           \
  X(F64, 3, 8, "f64", "F64")                                                                                           \
  X(I32, 4, 4, "i32", "I32")                                                                                           \
  X(I64, 5, 8, "i64", "I64")                                                                                           \
  X(U8, 6, 1, "u8", "U8")                                                                                              \
  X(I8, 7, 1, "i8", "I8")                                                                                              \
  X(I16, 8, 2, "i16", "I16")                                                                                           \
  X(U16, 9, 2, "u16", "U16")                                                                                           \
  X(U32, 10, 4, "u32", "U32")                                                                                          \
  X(U64, 11, 8, "u64", "U64")                                                                                          \
  X(Bool, 12, 1, "bool", "BOOL")                                                                                       \
  X(F8E4M3, 13, 1, "f8e4m3", "F8_E4M3")                                                                                \
  X(F8E5M2, 14, 1, "f8e5m2", "F8_E5M2")

enum class DType : uint8_t {
#define QRT_DTYPE_ENUM(name, value, bytes, text, safetensors) name = value,
  QRT_DTYPES(QRT_DTYPE_ENUM)
#undef QRT_DTYPE_ENUM
};

/// Bytes of one element.
constexpr int64_t byteSize(DType type) {
  switch (type) {
#define QRT_DTYPE_SIZE(name, value, bytes, text, safetensors)                                                          \
  case DType::name:                                                                                                    \
    return bytes;
    QRT_DTYPES(QRT_DTYPE_SIZE)
#undef QRT_DTYPE_SIZE
  }
  return 0;
}

/// The name used in dumps, options and messages: "bf16".
constexpr std::string_view dtypeName(DType type) {
  switch (type) {
#define QRT_DTYPE_NAME(name, value, bytes, text, safetensors)                                                          \
  case DType::name:                                                                                                    \
    return text;
    QRT_DTYPES(QRT_DTYPE_NAME)
#undef QRT_DTYPE_NAME
  }
  return "?";
}

/// The name used in a safetensors header: "BF16".
constexpr std::string_view safetensorsName(DType type) {
  switch (type) {
#define QRT_DTYPE_ST(name, value, bytes, text, safetensors)                                                            \
  case DType::name:                                                                                                    \
    return safetensors;
    QRT_DTYPES(QRT_DTYPE_ST)
#undef QRT_DTYPE_ST
  }
  return "?";
}

/// The inverse of safetensorsName; nothing for an unknown name.
constexpr std::optional<DType> dtypeFromSafetensors(std::string_view name) {
#define QRT_DTYPE_FROM(dtype, value, bytes, text, safetensors)                                                         \
  if (name == safetensors)                                                                                             \
    return DType::dtype;
  QRT_DTYPES(QRT_DTYPE_FROM)
#undef QRT_DTYPE_FROM
  return std::nullopt;
}

} // namespace qrt

#endif // RUNTIME_BASE_DTYPE_H
