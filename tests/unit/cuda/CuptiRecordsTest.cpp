// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Records of CUPTI: our declarations against its header where the toolkit has it, and what becomes of them.
#include "runtime/backends/cuda/cupti/ActivityRecorder.h"

#if __has_include(<cupti_activity.h>)
#include <cupti.h>
#define QCC_HAS_CUPTI_HEADER
#endif

#include <gtest/gtest.h>

namespace qrt::cuda {
namespace {

#ifdef QCC_HAS_CUPTI_HEADER
#define SAME_PLACE(Ours, ours, Theirs, theirs)                                                                         \
  static_assert(offsetof(Ours, ours) == offsetof(Theirs, theirs) && sizeof(Ours::ours) == sizeof(Theirs::theirs))
SAME_PLACE(CuptiActivity, kind, CUpti_Activity, kind);
SAME_PLACE(CuptiKernel, kind, CUpti_ActivityKernel10, kind);
SAME_PLACE(CuptiKernel, start, CUpti_ActivityKernel10, start);
SAME_PLACE(CuptiKernel, end, CUpti_ActivityKernel10, end);
SAME_PLACE(CuptiKernel, stream, CUpti_ActivityKernel10, streamId);
SAME_PLACE(CuptiKernel, correlation, CUpti_ActivityKernel10, correlationId);
SAME_PLACE(CuptiKernel, name, CUpti_ActivityKernel10, name);
SAME_PLACE(CuptiTransfer, bytes, CUpti_ActivityMemcpy6, bytes);
SAME_PLACE(CuptiTransfer, start, CUpti_ActivityMemcpy6, start);
SAME_PLACE(CuptiTransfer, end, CUpti_ActivityMemcpy6, end);
SAME_PLACE(CuptiTransfer, stream, CUpti_ActivityMemcpy6, streamId);
SAME_PLACE(CuptiTransfer, bytes, CUpti_ActivityMemset4, bytes);
SAME_PLACE(CuptiTransfer, start, CUpti_ActivityMemset4, start);
SAME_PLACE(CuptiTransfer, end, CUpti_ActivityMemset4, end);
SAME_PLACE(CuptiTransfer, stream, CUpti_ActivityMemset4, streamId);
static_assert(cupti::kConcurrentKernel == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
static_assert(cupti::kMemcpy == CUPTI_ACTIVITY_KIND_MEMCPY && cupti::kMemset == CUPTI_ACTIVITY_KIND_MEMSET);
static_assert(cupti::kFlushForced == CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
// The functions are those of the header but for the types of pointers and enumerations.
static_assert(std::is_same_v<CUpti_BuffersCallbackRequestFunc, CuptiBufferRequest>);
static_assert(std::is_same_v<CUpti_BuffersCallbackCompleteFunc, CuptiBufferComplete>);
#endif

TEST(CuptiRecords, BecomeWorks) {
  CuptiKernel kernel{};
  kernel.kind = cupti::kConcurrentKernel;
  kernel.start = 1000;
  kernel.end = 3500;
  kernel.stream = 7;
  kernel.name = "_ZN3qrt6device10addRmsNormI13__nv_bfloat16fEEvNS0_13RmsNormParamsE";
  std::optional<TracedWork> work = tracedWork(reinterpret_cast<const CuptiActivity &>(kernel));
  ASSERT_TRUE(work);
  EXPECT_EQ(work->begin, 1000);
  EXPECT_EQ(work->end, 3500);
  EXPECT_EQ(work->stream, 7);
  EXPECT_EQ(work->instruction, -1);
  EXPECT_EQ(work->name, "addRmsNorm<__nv_bfloat16, float>");

  CuptiTransfer copy{};
  copy.kind = cupti::kMemcpy;
  copy.start = 10;
  copy.end = 20;
  copy.stream = 3;
  work = tracedWork(reinterpret_cast<const CuptiActivity &>(copy));
  ASSERT_TRUE(work);
  EXPECT_EQ(work->name, "copy");
  EXPECT_EQ(work->begin, 10);
  EXPECT_EQ(work->stream, 3);
  copy.kind = cupti::kMemset;
  EXPECT_EQ(tracedWork(reinterpret_cast<const CuptiActivity &>(copy))->name, "fill");

  // Without times, and of another kind.
  copy.start = copy.end = 0;
  EXPECT_FALSE(tracedWork(reinterpret_cast<const CuptiActivity &>(copy)));
  copy.kind = 4;
  copy.end = 20;
  EXPECT_FALSE(tracedWork(reinterpret_cast<const CuptiActivity &>(copy)));
}

TEST(CuptiRecords, NamesOfFunctions) {
  EXPECT_EQ(functionName("_ZN3qrt6device6swigluINS0_4bf16EEEvNS0_12SwigluParamsE"), "swiglu<bf16>");
  EXPECT_EQ(functionName("sm90_xmma_gemm_bf16bf16_bf16f32"), "sm90_xmma_gemm_bf16bf16_bf16f32");
  EXPECT_EQ(functionName("_ZN7cutlass6kernelEi"), "cutlass::kernel(int)");
}

} // namespace
} // namespace qrt::cuda
