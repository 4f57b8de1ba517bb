// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/dsl/Tensor.h"

using namespace mlir;

namespace qcc::dsl {

//===----------------------------------------------------------------------===//
// Graph
//===----------------------------------------------------------------------===//

static NamedAttribute argumentRole(OpBuilder &builder, qt::ArgumentRole role) {
  return builder.getNamedAttr(qt::kArgumentAttr, qt::ArgumentRoleAttr::get(builder.getContext(), role));
}

Graph::Graph(MLIRContext &context) : builder_(&context) {
  context.loadDialect<qt::QtDialect, func::FuncDialect>();
  Location loc = builder_.getUnknownLoc();
  module_ = ModuleOp::create(loc);
  builder_.setInsertionPointToEnd(module_->getBody());

  auto tokens = RankedTensorType::get({kTokens}, builder_.getI32Type());
  auto docs = qt::SegmentsType::get(&context);
  auto loss = RankedTensorType::get({}, builder_.getF32Type());
  func_ = func::FuncOp::create(builder_, loc, "model", builder_.getFunctionType({tokens, tokens, docs}, {loss}));
  func_->setAttr(qt::kEntryAttr, qt::EntryKindAttr::get(&context, qt::EntryKind::Model));
  const qt::ArgumentRole roles[] = {qt::ArgumentRole::Ids, qt::ArgumentRole::Labels, qt::ArgumentRole::Segments};
  for (auto [i, role] : llvm::enumerate(roles)) {
    NamedAttribute attr = argumentRole(builder_, role);
    func_.setArgAttr(i, attr.getName(), attr.getValue());
  }
  func_.setResultAttr(0, qt::kResultAttr, qt::ResultRoleAttr::get(&context, qt::ResultRole::Loss));

  Block *entry = func_.addEntryBlock();
  ids_ = entry->getArgument(0);
  labels_ = entry->getArgument(1);
  documents_ = Documents(entry->getArgument(2));
  builder_.setInsertionPointToEnd(entry);
}

Location Graph::loc() {
  return scope_.empty() ? Location(builder_.getUnknownLoc()) : NameLoc::get(builder_.getStringAttr(scope_));
}

void Graph::tag(Operation *op) {
  if (!scope_.empty())
    op->setAttr(qt::kScopeAttr, builder_.getStringAttr(scope_));
}

Tensor Graph::parameter(StringRef name, Shape shape, Type elementType, qt::InitAttr init, ArrayRef<std::string> names,
                        ArrayRef<StringRef> tied) {
  auto type = RankedTensorType::get(shape, elementType);
  if (!module_->lookupSymbol(name)) {
    OpBuilder::InsertionGuard guard(builder_);
    builder_.setInsertionPoint(func_);
    SmallVector<StringRef> refs(names.begin(), names.end());
    qt::ParameterOp::create(builder_, loc(), name, type, init, builder_.getStrArrayAttr(refs), /*frozen=*/false,
                            tied.empty() ? ArrayAttr() : builder_.getStrArrayAttr(tied));
  }
  return {this, create<qt::ReadOp>(type, name).getValue()};
}

void Graph::watch(Tensor x, StringRef name) { create<qt::WatchOp>(x.value(), name, /*gradient=*/false); }

OwningOpRef<ModuleOp> Graph::finish(Tensor loss) {
  func::ReturnOp::create(builder_, loc(), loss.value());
  return std::move(module_);
}

Graph::Scope::Scope(Graph &graph, const Twine &name) : graph_(graph), outer_(graph.scope_.size()) {
  if (outer_ != 0)
    graph_.scope_ += '.';
  graph_.scope_ += name.str();
}

Graph::Scope::~Scope() { graph_.scope_.resize(outer_); }

//===----------------------------------------------------------------------===//
// Named concepts
//===----------------------------------------------------------------------===//

/// The type of x with another last dimension.
static RankedTensorType withLastDim(Tensor x, int64_t size) {
  Shape shape(x.shape());
  shape.back() = size;
  return RankedTensorType::get(shape, x.elementType());
}

Tensor embedding(Documents docs, Value ids, Tensor weight) {
  Graph &g = weight.graph();
  auto type = RankedTensorType::get({kTokens, weight.dim(1)}, weight.elementType());
  return {&g, g.create<qt::EmbeddingOp>(type, docs.value(), ids, weight.value()).getOut()};
}

Tensor linear(Tensor x, Tensor weight) {
  Graph &g = x.graph();
  return {&g, g.create<qt::LinearOp>(withLastDim(x, weight.dim(0)), x.value(), weight.value()).getY()};
}

Tensor rmsNorm(Tensor x, Tensor weight, double eps) {
  Graph &g = x.graph();
  auto op = g.create<qt::RmsNormOp>(x.type(), /*rstd=*/Type(), x.value(), weight.value(), llvm::APFloat(eps));
  return {&g, op.getY()};
}

Tensor plainRmsNorm(Tensor x, Tensor weight, double eps) {
  Graph &g = x.graph();
  return {&g, g.create<qt::PlainRmsNormOp>(x.type(), x.value(), weight.value(), llvm::APFloat(eps)).getY()};
}

Tensor l2Norm(Tensor x, double eps) {
  Graph &g = x.graph();
  return {&g, g.create<qt::L2NormOp>(x.type(), x.value(), llvm::APFloat(eps)).getY()};
}

Tensor rope(Documents docs, Tensor x, double theta, int64_t rotaryDims) {
  Graph &g = x.graph();
  auto op = g.create<qt::RopeOp>(x.type(), docs.value(), x.value(), llvm::APFloat(theta), rotaryDims);
  return {&g, op.getY()};
}

Tensor causalConv(Documents docs, Tensor x, Tensor weight) {
  Graph &g = x.graph();
  return {&g, g.create<qt::CausalConvOp>(x.type(), docs.value(), x.value(), weight.value()).getY()};
}

Tensor crossEntropy(Tensor logits, Value labels) {
  Graph &g = logits.graph();
  auto scalar = RankedTensorType::get({}, g.builder().getF32Type());
  return {&g, g.create<qt::CrossEntropyOp>(scalar, logits.value(), labels).getLoss()};
}

//===----------------------------------------------------------------------===//
// Mathematics
//===----------------------------------------------------------------------===//

template <typename Op> static Tensor unary(Tensor x) {
  Graph &g = x.graph();
  return {&g, g.create<Op>(x.type(), x.value()).getResult()};
}
Tensor exp(Tensor x) { return unary<qt::ExpOp>(x); }
Tensor sigmoid(Tensor x) { return unary<qt::SigmoidOp>(x); }
Tensor silu(Tensor x) { return unary<qt::SiluOp>(x); }
Tensor softplus(Tensor x) { return unary<qt::SoftplusOp>(x); }
Tensor softmax(Tensor x) { return unary<qt::SoftmaxOp>(x); }
Tensor operator-(Tensor x) { return unary<qt::NegOp>(x); }

template <typename Op> static Tensor binary(Tensor a, Tensor b) {
  Graph &g = a.graph();
  return {&g, g.create<Op>(a.type(), a.value(), b.value()).getResult()};
}
Tensor operator+(Tensor a, Tensor b) { return binary<qt::AddOp>(a, b); }
Tensor operator-(Tensor a, Tensor b) { return binary<qt::SubOp>(a, b); }
Tensor operator*(Tensor a, Tensor b) { return binary<qt::MulOp>(a, b); }

Tensor operator*(Tensor x, double factor) {
  Graph &g = x.graph();
  return {&g, g.create<qt::ScaleOp>(x.type(), x.value(), llvm::APFloat(factor)).getResult()};
}

Tensor cast(Tensor x, Type elementType) {
  if (x.elementType() == elementType)
    return x;
  Graph &g = x.graph();
  return {&g, g.create<qt::CastOp>(RankedTensorType::get(x.shape(), elementType), x.value()).getResult()};
}

Tensor reshape(Tensor x, Shape shape) {
  Graph &g = x.graph();
  return {&g, g.create<qt::ReshapeOp>(RankedTensorType::get(shape, x.elementType()), x.value()).getResult()};
}

Tensor transpose(Tensor x, ArrayRef<int64_t> permutation) {
  Graph &g = x.graph();
  Shape shape;
  for (int64_t axis : permutation)
    shape.push_back(x.dim(static_cast<int>(axis)));
  auto type = RankedTensorType::get(shape, x.elementType());
  return {&g, g.create<qt::TransposeOp>(type, x.value(), permutation).getResult()};
}

Tensor broadcast(Tensor x, ArrayRef<int64_t> dims, Shape shape) {
  Graph &g = x.graph();
  auto type = RankedTensorType::get(shape, x.elementType());
  return {&g, g.create<qt::BroadcastOp>(type, x.value(), dims).getResult()};
}

Tensor repeatHeads(Tensor x, int64_t times) {
  if (times == 1)
    return x;
  int64_t heads = x.dim(1), width = x.dim(2);
  Tensor one = reshape(x, {kTokens, heads, 1, width});
  Tensor many = broadcast(one, {0, 1, 2, 3}, {kTokens, heads, times, width});
  return reshape(many, {kTokens, heads * times, width});
}

SmallVector<Tensor> split(Tensor x, int64_t dim, ArrayRef<int64_t> sizes) {
  Graph &g = x.graph();
  SmallVector<Type> types;
  for (int64_t size : sizes) {
    Shape shape(x.shape());
    shape[dim] = size;
    types.push_back(RankedTensorType::get(shape, x.elementType()));
  }
  auto op = g.create<qt::SplitOp>(types, x.value(), static_cast<uint64_t>(dim));
  SmallVector<Tensor> parts;
  for (Value part : op.getParts())
    parts.emplace_back(&g, part);
  return parts;
}

Tensor causalMask(Documents docs, Tensor scores) {
  Graph &g = scores.graph();
  return {&g, g.create<qt::CausalMaskOp>(scores.type(), docs.value(), scores.value()).getResult()};
}

Tensor contract(Tensor a, Tensor b, Dims batch, Dims over) {
  Graph &g = a.graph();
  Shape shape;
  for (int64_t axis : batch.lhs)
    shape.push_back(a.dim(static_cast<int>(axis)));
  auto appendFree = [&shape](Tensor x, ArrayRef<int64_t> batchDims, ArrayRef<int64_t> overDims) {
    for (auto [axis, size] : llvm::enumerate(x.shape()))
      if (!llvm::is_contained(batchDims, axis) && !llvm::is_contained(overDims, axis))
        shape.push_back(size);
  };
  appendFree(a, batch.lhs, over.lhs);
  appendFree(b, batch.rhs, over.rhs);
  auto type = RankedTensorType::get(shape, a.elementType());
  auto op = g.create<qt::ContractOp>(type, a.value(), b.value(), batch.lhs, batch.rhs, over.lhs, over.rhs);
  return {&g, op.getResult()};
}

Tensor matvecT(Tensor s, Tensor k) { return contract(s, k, {{0}, {0}}, {{1}, {1}}); }
Tensor outer(Tensor k, Tensor d) { return contract(k, d, {{0}, {0}}, {{}, {}}); }

SmallVector<Tensor> scan(Documents docs, ArrayRef<Tensor> rows, RankedTensorType state,
                         function_ref<Yield(Tensor, ArrayRef<Tensor>)> body) {
  Graph &g = rows.front().graph();
  OpBuilder &builder = g.builder();

  // The body is built first: what it yields says what the scan results in.
  auto block = std::make_unique<Block>();
  Tensor before(&g, block->addArgument(state, g.loc()));
  SmallVector<Tensor> slices;
  for (Tensor row : rows) {
    auto slice = RankedTensorType::get(row.shape().drop_front(), row.elementType());
    slices.emplace_back(&g, block->addArgument(slice, g.loc()));
  }
  Yield yield;
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToEnd(block.get());
    yield = body(before, slices);
    SmallVector<Value> yielded{yield.state.value()};
    for (Tensor output : yield.outputs)
      yielded.push_back(output.value());
    qt::YieldOp::create(builder, g.loc(), yielded);
  }

  SmallVector<Type> types;
  for (Tensor output : yield.outputs) {
    Shape shape{kTokens};
    shape.append(output.shape().begin(), output.shape().end());
    types.push_back(RankedTensorType::get(shape, output.elementType()));
  }
  SmallVector<Value> operands;
  for (Tensor row : rows)
    operands.push_back(row.value());
  auto op = g.create<qt::ScanOp>(types, docs.value(), operands, TypeAttr::get(state));
  op.getBody().push_back(block.release());
  SmallVector<Tensor> results;
  for (Value output : op.getOutputs())
    results.emplace_back(&g, output);
  return results;
}

} // namespace qcc::dsl
