// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Weights from a Hugging Face directory.
#ifndef RUNTIME_TRAIN_LOADWEIGHTS_H
#define RUNTIME_TRAIN_LOADWEIGHTS_H

#include "runtime/data/Checkpoint.h"
#include "runtime/executor/Session.h"

namespace qrt {

/// A checkpoint that fits a program: which tensor is which parameter's.
class WeightSource {
public:
  /// Opens the directory and matches it: every parameter is there under exactly one of its names, with its shape and a
  /// floating-point type. A tensor that the program says is tied to a parameter (its head to the embedding) must equal
  /// it bit for bit. Tensors beside the model are listed; one among its names that no parameter has, and that the
  /// program does not call another's, is an error, so a checkpoint of another size is not taken for ours. InvalidData
  /// naming tensor, file, what was expected and what came.
  static StatusOr<WeightSource> open(const Program &program, const std::string &directory);

  const CheckpointReader &checkpoint() const { return checkpoint_; }
  /// The tensor of a parameter, by its index in the program.
  const std::string &tensorOf(size_t parameter) const { return tensorOf_[parameter]; }
  /// The parameter that a tensor's value is: its own, or the one it is tied to; -1: none, the tensor is passed
  /// through.
  int64_t parameterOf(const std::string &tensor) const;
  /// Tensors that are not trained here, sorted.
  const std::vector<std::string> &passedThrough() const { return passedThrough_; }

private:
  explicit WeightSource(CheckpointReader checkpoint) : checkpoint_(std::move(checkpoint)) {}
  Status match(const Program &program);
  Status matchParameter(const Parameter &parameter);
  Status matchTied(size_t index, const Parameter &parameter);
  /// The file of a tensor, for messages.
  std::string place(const std::string &tensor) const;

  CheckpointReader checkpoint_;
  std::vector<std::string> tensorOf_;
  std::map<std::string, int64_t> parameterOf_;
  std::vector<std::string> passedThrough_;
};

/// Reads every parameter, converted from its tensor's type, and starts the optimizer.
Status loadWeights(Session &session, const WeightSource &source);

} // namespace qrt

#endif // RUNTIME_TRAIN_LOADWEIGHTS_H
