// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef QT_TYPES_TD
#define QT_TYPES_TD

include "dialects/qt/QtDialect.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/CommonTypeConstraints.td"

def Qt_SegmentsType : TypeDef<Qt_Dialect, "Segments"> {
  let mnemonic = "segments";
  let summary = "where the documents of one packed row begin and end, and which of its tokens are trained";
  let description = [{
    `!qt.segments` fits any row. `!qt.segments<8192, 16, 8192, 4096>` is a bucket: 8,192 tokens (tail included), at most 16 documents, none longer than
    8,192 tokens, at most 4,096 trained rows. A segments value is not differentiable and is local to a rank.
  }];
  let parameters = (ins "int64_t":$tokens, "int64_t":$documents, "int64_t":$longest, "int64_t":$trained);
  let builders = [TypeBuilder<(ins), [{
    return $_get($_ctxt, ::mlir::ShapedType::kDynamic, ::mlir::ShapedType::kDynamic, ::mlir::ShapedType::kDynamic,
                 ::mlir::ShapedType::kDynamic);
  }]>];
  let extraClassDeclaration = [{
    /// Whether the extents are known: true from the phase `bucketed` on.
    bool isStatic() const { return !::mlir::ShapedType::isDynamic(getTokens()); }
  }];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Qt_Float : AnyTypeOf<[F32, BF16, F64]>;
def Qt_Tensor : RankedTensorOf<[F32, BF16, F64]>;
def Qt_Rows : RankedTensorOf<[F32, BF16, F64], [HasRankGreaterOrEqualPred<1>], "tensor with a row per token">;
def Qt_Ids : RankedTensorOf<[I32], [HasAnyRankOfPred<[1]>], "i32 vector with an entry per token">;
def Qt_Scalar : RankedTensorOf<[F32, F64], [HasAnyRankOfPred<[0]>], "scalar tensor">;
def Qt_AnyTensor : RankedTensorOf<[F32, BF16, F64, I32, I64]>;

#endif // QT_TYPES_TD
