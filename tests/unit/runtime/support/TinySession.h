// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A session of TinyProgram on the CPU with weights, and batches for it.
#ifndef TESTS_UNIT_RUNTIME_SUPPORT_TINYSESSION_H
#define TESTS_UNIT_RUNTIME_SUPPORT_TINYSESSION_H

#include "runtime/backends/cpu/CpuDevice.h"
#include "runtime/base/BFloat16.h"
#include "runtime/executor/Session.h"
#include "tests/unit/runtime/support/StatusMatchers.h"
#include "tests/unit/runtime/support/TinyProgram.h"

#include <cstring>
#include <random>

namespace qrt::test {

inline constexpr BucketShape kTinyBucket{16, 4, 16, 12};

/// A buffer of a parameter as f32.
inline std::vector<float> readFloats(const Session &session, const std::string &name, ParameterPart part) {
  const Parameter &parameter = *session.program().findParameter(name);
  DType dtype = parameter.part(part)->dtype;
  std::vector<std::byte> bytes(static_cast<size_t>(parameter.elements * byteSize(dtype)));
  EXPECT_OK(session.readParameter(parameter, part, 0, bytes));
  std::vector<float> values(static_cast<size_t>(parameter.elements));
  for (size_t i = 0; i < values.size(); ++i)
    if (dtype == DType::F32) {
      std::memcpy(&values[i], bytes.data() + 4 * i, 4);
    } else {
      uint16_t bits;
      std::memcpy(&bits, bytes.data() + 2 * i, 2);
      values[i] = f32FromBF16(bits);
    }
  return values;
}

inline void writeFloats(Session &session, const std::string &name, ParameterPart part,
                        const std::vector<float> &values) {
  const Parameter &parameter = *session.program().findParameter(name);
  if (parameter.part(part)->dtype == DType::F32) {
    ASSERT_OK(session.writeParameter(parameter, part, 0, std::as_bytes(std::span(values))));
    return;
  }
  std::vector<uint16_t> bits;
  for (float value : values)
    bits.push_back(bf16FromF32(value));
  ASSERT_OK(session.writeParameter(parameter, part, 0, std::as_bytes(std::span(bits))));
}

/// Normal weights (norms near their neutral value), everything else zero.
inline void fillState(Session &session, uint32_t seed = 1, float scale = 0.3F) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0, scale);
  for (const Parameter &parameter : session.program().parameters()) {
    std::vector<float> values(static_cast<size_t>(parameter.elements));
    for (float &value : values)
      value = normal(random);
    if (parameter.part(ParameterPart::Master)) {
      for (float &value : values)
        value = f32FromBF16(bf16FromF32(value));
      writeFloats(session, parameter.name, ParameterPart::Master, values);
    }
    writeFloats(session, parameter.name, ParameterPart::Weight, values);
    for (ParameterPart part : {ParameterPart::ExpAvg, ParameterPart::ExpAvgSq})
      if (parameter.part(part))
        ASSERT_OK(session.zeroParameter(parameter, part));
  }
  ASSERT_OK(session.writeCounters({0, 0}));
  ASSERT_OK(session.zeroGradients());
}

inline std::unique_ptr<Session> makeSession(const TinyModel &model,
                                            const std::vector<BucketShape> &buckets = {kTinyBucket},
                                            const cpu::CpuDeviceOptions &device = {.threads = 2, .poison = true},
                                            const SessionOptions &options = {.accumulate = true}) {
  std::vector<Program> programs;
  StatusOr<Program> program = TinyProgram(model, buckets).build();
  EXPECT_OK(program);
  programs.push_back(std::move(*program));
  StatusOr<std::unique_ptr<Session>> session =
      Session::create(std::move(programs), cpu::createCpuDevice(device), options);
  EXPECT_OK(session);
  if (!session.ok())
    return nullptr;
  fillState(**session);
  return std::move(*session);
}

/// Documents of these lengths with random ids; the first token of each is no target, nor every third.
inline HostBatch makeBatch(const BucketShape &bucket, const std::vector<int64_t> &lengths, int64_t vocabulary,
                           uint32_t seed = 3) {
  std::mt19937 random(seed);
  TokenRow row;
  row.documentOffsets = {0};
  for (int64_t length : lengths) {
    for (int64_t t = 0; t < length; ++t) {
      row.ids.push_back(static_cast<int32_t>(random() % static_cast<uint64_t>(vocabulary)));
      row.lossMask.push_back(t > 0 && t % 3 != 0);
    }
    row.documentOffsets.push_back(static_cast<int64_t>(row.ids.size()));
  }
  HostBatch batch;
  EXPECT_OK(fillBatch(row, bucket, batch));
  return batch;
}

inline constexpr Hyperparameters kTinyHyper{.learningRate = 1e-2F,
                                            .beta1 = 0.9F,
                                            .beta2 = 0.95F,
                                            .eps = 1e-8F,
                                            .weightDecay = 0.1F,
                                            .clip = 1.0F,
                                            .reserved = {}};

} // namespace qrt::test

#endif // TESTS_UNIT_RUNTIME_SUPPORT_TINYSESSION_H
