// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/emit/TransientPeaks.h"

#include "compiler/Pipeline.h"
#include "dialects/step/Step.h"
#include "models/qwen/Qwen35.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <gtest/gtest.h>

using namespace mlir;

namespace {

/// The peak of a step of the golden case `tiny_tied`, planned for one bucket.
qcc::TransientPeak peakOf(qt::Target kind, qrt::BucketShape bucket) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  context.loadDialect<qt::QtDialect, step::StepDialect, func::FuncDialect>();
  std::string file = QCC_SOURCE_DIR "/tests/golden/tiny_tied/config.json";
  qrt::StatusOr<qcc::qwen::Config> config = qcc::qwen::parseConfig(*qrt::readJsonFile(file), file);
  OwningOpRef<ModuleOp> module = qcc::qwen::buildModel(context, *config);
  qcc::PipelineOptions options;
  options.target = kind;
  options.buckets = {bucket};
  EXPECT_TRUE(succeeded(qcc::compileTo(*module, qcc::Phase::Planned, options)));
  for (qcc::TransientPeak &peak : qcc::findTransientPeaks(*module, {kind, std::nullopt}))
    if (peak.entry == "step " + qrt::printBucket(bucket))
      return peak;
  ADD_FAILURE() << "no step";
  return {};
}

// Of 8,192 tokens in as many documents each is a chunk of the delta rule.
TEST(TransientPeaks, WhatDocumentsTakeIsWhatRowsOfOneDoNot) {
  qcc::TransientPeak any = peakOf(qt::Target::Sm90a, qrt::BucketShape::anyOf(8192));
  qcc::TransientPeak one = peakOf(qt::Target::Sm90a, {8192, 1, 8192, 8192});
  qcc::TransientPeak same = peakOf(qt::Target::Sm90a, {8192, 1024, 8192, 8192});
  EXPECT_EQ(any.documents, 8192);
  EXPECT_GT(any.documentBytes, any.workspace / 2);
  EXPECT_EQ(one.documentBytes, 0);
  ASSERT_EQ(any.instruction, same.instruction) << "else their workspaces are those of two kernels";
  EXPECT_EQ(any.workspace - any.documentBytes, same.workspace - same.documentBytes);
}

TEST(TransientPeaks, TheCpuTakesAnyDocuments) {
  EXPECT_EQ(peakOf(qt::Target::Cpu, qrt::BucketShape::anyOf(512)).documentBytes, 0);
}

} // namespace
