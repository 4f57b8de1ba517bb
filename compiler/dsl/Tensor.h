// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The model language: a model is written as mathematics on tensors, and every call adds one op of the qt dialect to the
// module under construction. What is a named concept of the field (linear, rms_norm, rope) is an op at once; what has
// structure (the delta rule, attention) is written out, and the compiler finds it again.
//
// A tensor's first dimension counts tokens: kTokens. Shapes are checked by the ops' verifiers, at the line of the model
// that built them.
#ifndef COMPILER_DSL_TENSOR_H
#define COMPILER_DSL_TENSOR_H

#include "dialects/qt/Qt.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <functional>
#include <string>

namespace qcc::dsl {

/// The dynamic extent of a packed row: its tokens.
constexpr int64_t kTokens = mlir::ShapedType::kDynamic;

using Shape = llvm::SmallVector<int64_t, 4>;

class Graph;

/// A value of the graph. Cheap to copy.
class Tensor {
public:
  Tensor() = default;
  Tensor(Graph *graph, mlir::Value value) : graph_(graph), value_(value) {}

  Graph &graph() const { return *graph_; }
  mlir::Value value() const { return value_; }
  mlir::RankedTensorType type() const { return mlir::cast<mlir::RankedTensorType>(value_.getType()); }
  mlir::Type elementType() const { return type().getElementType(); }
  llvm::ArrayRef<int64_t> shape() const { return type().getShape(); }
  int64_t dim(int axis) const { return type().getDimSize(axis); }

private:
  Graph *graph_ = nullptr;
  mlir::Value value_;
};

/// The documents of the packed row: what every op that mixes tokens reads.
class Documents {
public:
  Documents() = default;
  explicit Documents(mlir::Value value) : value_(value) {}
  mlir::Value value() const { return value_; }

private:
  mlir::Value value_;
};

/// A module under construction: its parameters, its function @model, and the scope of the ops being added.
class Graph {
public:
  /// An empty module with the function @model(ids, labels, documents); finish() gives it its result.
  explicit Graph(mlir::MLIRContext &context);

  mlir::MLIRContext &context() { return *builder_.getContext(); }
  mlir::OpBuilder &builder() { return builder_; }
  mlir::Location loc();

  mlir::Value ids() const { return ids_; }
  mlir::Value labels() const { return labels_; }
  Documents documents() const { return documents_; }

  /// Declares a parameter, once a name, and reads it. `names`: what a checkpoint may call it, the preferred name first;
  /// `tied`: under which names it may hold the same values once more.
  Tensor parameter(llvm::StringRef name, Shape shape, mlir::Type elementType, qt::InitAttr init,
                   llvm::ArrayRef<std::string> names, llvm::ArrayRef<llvm::StringRef> tied = {});

  /// Names a tensor in the program's debug table.
  void watch(Tensor x, llvm::StringRef name);

  /// Ends @model with the summed loss and hands the module over.
  mlir::OwningOpRef<mlir::ModuleOp> finish(Tensor loss);

  /// Adds an op of the current scope.
  template <typename Op, typename... Args> Op create(Args &&...args) {
    auto op = Op::create(builder_, loc(), std::forward<Args>(args)...);
    tag(op);
    return op;
  }

  /// While it lives, ops belong to the scope `name` of the scope around it.
  class Scope {
  public:
    Scope(Graph &graph, const llvm::Twine &name);
    ~Scope();
    Scope(const Scope &) = delete;
    Scope &operator=(const Scope &) = delete;

  private:
    Graph &graph_;
    size_t outer_;
  };

private:
  void tag(mlir::Operation *op);

  mlir::OpBuilder builder_;
  mlir::OwningOpRef<mlir::ModuleOp> module_;
  mlir::func::FuncOp func_;
  mlir::Value ids_, labels_;
  Documents documents_;
  std::string scope_;
};

//===----------------------------------------------------------------------===//
// Named concepts
//===----------------------------------------------------------------------===//

/// Row ids[t] of the table [vocabulary, hidden] for each token.
Tensor embedding(Documents docs, mlir::Value ids, Tensor weight);
/// x W^T: x [tokens, in], W [out, in].
Tensor linear(Tensor x, Tensor weight);
/// x * rsqrt(mean(x^2) + eps) * (1 + weight) over the last dimension.
Tensor rmsNorm(Tensor x, Tensor weight, double eps);
/// weight * (x * rsqrt(mean(x^2) + eps)) over the last dimension.
Tensor plainRmsNorm(Tensor x, Tensor weight, double eps);
/// x * rsqrt(sum(x^2) + eps) over the last dimension.
Tensor l2Norm(Tensor x, double eps);
/// Rotary position embedding of [tokens, heads, width], positions from each document's start.
Tensor rope(Documents docs, Tensor x, double theta, int64_t rotaryDims);
/// Depthwise causal convolution inside each document; weight [channels, 1, taps].
Tensor causalConv(Documents docs, Tensor x, Tensor weight);
/// The summed cross-entropy of [tokens, vocabulary] against labels [tokens].
Tensor crossEntropy(Tensor logits, mlir::Value labels);

//===----------------------------------------------------------------------===//
// Mathematics
//===----------------------------------------------------------------------===//

Tensor exp(Tensor x);
Tensor sigmoid(Tensor x);
Tensor silu(Tensor x);
Tensor softplus(Tensor x);
Tensor softmax(Tensor x);
Tensor operator-(Tensor x);
/// The right side has the left side's shape, or that of its last dimensions.
Tensor operator+(Tensor a, Tensor b);
Tensor operator-(Tensor a, Tensor b);
Tensor operator*(Tensor a, Tensor b);
/// x times a constant.
Tensor operator*(Tensor x, double factor);

/// x rounded to another element type; x itself where it has it.
Tensor cast(Tensor x, mlir::Type elementType);
Tensor reshape(Tensor x, Shape shape);
Tensor transpose(Tensor x, llvm::ArrayRef<int64_t> permutation);
/// Dimension i of x becomes dimension dims[i] of the result.
Tensor broadcast(Tensor x, llvm::ArrayRef<int64_t> dims, Shape shape);
/// x [tokens, heads, width] -> [tokens, heads * times, width]: head j of the result is head j / times of x.
Tensor repeatHeads(Tensor x, int64_t times);
/// Cuts x along a dimension into parts of the given sizes.
llvm::SmallVector<Tensor> split(Tensor x, int64_t dim, llvm::ArrayRef<int64_t> sizes);
/// Scores [heads, tokens, tokens], minus infinity where the key is later than the query or in another document.
Tensor causalMask(Documents docs, Tensor scores);

/// Which dimensions two tensors share in a contraction.
struct Dims {
  llvm::SmallVector<int64_t, 4> lhs, rhs;
};
/// Sum of products over `over`, for each index of `batch`: see qt.contract.
Tensor contract(Tensor a, Tensor b, Dims batch, Dims over);
/// Per head: S^T k of S [heads, dk, dv] and k [heads, dk].
Tensor matvecT(Tensor s, Tensor k);
/// Per head: k d^T of k [heads, dk] and d [heads, dv].
Tensor outer(Tensor k, Tensor d);

/// What the body of a scan yields for a token.
struct Yield {
  Tensor state;
  llvm::SmallVector<Tensor> outputs;
};
/// A recurrence over the tokens of each document from a zero state: the body maps the state and each row's slice at a
/// token to the next state and to each output's slice. Returns the outputs.
llvm::SmallVector<Tensor> scan(Documents docs, llvm::ArrayRef<Tensor> rows, mlir::RankedTensorType state,
                               llvm::function_ref<Yield(Tensor state, llvm::ArrayRef<Tensor> row)> body);

} // namespace qcc::dsl

#endif // COMPILER_DSL_TENSOR_H
