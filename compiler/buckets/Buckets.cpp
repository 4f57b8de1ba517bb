// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes the entry functions of each bucket. The generic ones stay: further buckets are made from them.
#include "compiler/Passes.h"
#include "compiler/buckets/Extents.h"
#include "dialects/qt/Entries.h"
#include "runtime/base/BucketShape.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace qcc {
#define GEN_PASS_DEF_SPECIALIZEBUCKETS
#include "compiler/Passes.h.inc"

/// Adds the clone of a generic function for one bucket to the module.
static LogicalResult specialize(func::FuncOp generic, const qrt::BucketShape &bucket, SymbolTable &symbols) {
  std::string name = (generic.getName() + "." + qrt::printBucket(bucket)).str();
  if (Operation *other = symbols.lookup(name))
    return other->emitError("expected the name @") << name << " to be free for the bucket " << qrt::printBucket(bucket);
  FailureOr<ExtentMap> extents = inferExtents(generic);
  if (failed(extents))
    return failure();

  IRMapping mapping;
  auto clone = cast<func::FuncOp>(generic->clone(mapping));
  clone.setName(name);
  auto segments =
      qt::SegmentsType::get(generic.getContext(), bucket.tokens, bucket.documents, bucket.longest, bucket.trained);
  generic.walk([&](Block *block) {
    auto substitute = [&](Value value) {
      Value copy = mapping.lookup(value);
      if (isa<qt::SegmentsType>(value.getType()))
        copy.setType(segments);
      else if (auto it = extents->find(value); it != extents->end())
        copy.setType(withExtent(value.getType(), it->second == Extent::Tokens ? bucket.tokens : bucket.trained));
    };
    llvm::for_each(block->getArguments(), substitute);
    for (Operation &op : *block)
      llvm::for_each(op.getResults(), substitute);
  });
  Block &body = clone.getBody().front();
  clone.setFunctionType(
      FunctionType::get(clone.getContext(), body.getArgumentTypes(), body.getTerminator()->getOperandTypes()));
  symbols.insert(clone);
  return success();
}

namespace {

struct SpecializeBuckets : impl::SpecializeBucketsBase<SpecializeBuckets> {
  using SpecializeBucketsBase::SpecializeBucketsBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    qrt::StatusOr<std::vector<qrt::BucketShape>> shapes = qrt::parseBuckets(buckets);
    if (!shapes.ok()) {
      module.emitError(shapes.status().message());
      return signalPassFailure();
    }
    SmallVector<func::FuncOp> generic;
    for (auto function : module.getOps<func::FuncOp>())
      if (qt::entryKind(function) && qt::isGeneric(function))
        generic.push_back(function);
    if (generic.empty()) {
      module.emitError("expected entry functions for any row, to make those of a bucket from, got none");
      return signalPassFailure();
    }
    SymbolTable symbols(module);
    for (const qrt::BucketShape &bucket : *shapes)
      for (func::FuncOp function : generic)
        if (failed(specialize(function, bucket, symbols)))
          return signalPassFailure();
  }
};

} // namespace
} // namespace qcc
