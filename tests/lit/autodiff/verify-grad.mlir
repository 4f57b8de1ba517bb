// The exit contract of the phase grad.
// RUN: qcc-opt %s --split-input-file --verify-grad --verify-diagnostics

// What a step, an accumulation, an application and an evaluation may update.
qt.parameter @w : tensor<4xf32> init <zeros> names ["w"]
qt.parameter @frozen : tensor<4xf32> frozen init <zeros> names ["frozen"]
qt.state @c counters : tensor<2xi64>
qt.state @w.m exp_avg of @w : tensor<4xf32>
qt.state @w.v exp_avg_sq of @w : tensor<4xf32>
qt.state @w.g gradient of @w : tensor<4xf32>
func.func @step(%hyper: tensor<8xf32>, %seed: tensor<i64>, %norm: tensor<f32>, %x: tensor<4xf32>) attributes {qt.entry = #qt.entry<step>} {
  %w = qt.read @w : tensor<4xf32>
  %m = qt.read @w.m : tensor<4xf32>
  %v = qt.read @w.v : tensor<4xf32>
  %c = qt.read @c : tensor<2xi64>
  %counted = qt.optimizer_step %norm, %c : (tensor<f32>, tensor<2xi64>) -> tensor<2xi64>
  %n:3 = qt.adamw %x norm %norm counters %counted hyper %hyper seed %seed weight %w moments %m, %v decay false members [1, 4]
    : (tensor<4xf32>, tensor<f32>, tensor<2xi64>, tensor<8xf32>, tensor<i64>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
  qt.update @c, %counted : tensor<2xi64>
  qt.update @w, %n#0 : tensor<4xf32>
  qt.update @w.m, %n#1 : tensor<4xf32>
  qt.update @w.v, %n#2 : tensor<4xf32>
  return
}
func.func @accumulate(%x: tensor<4xf32>) attributes {qt.entry = #qt.entry<accumulate>} {
  qt.update @w.g, %x : tensor<4xf32>
  return
}
func.func @apply(%hyper: tensor<8xf32>, %seed: tensor<i64>, %norm: tensor<f32>, %x: tensor<4xf32>) attributes {qt.entry = #qt.entry<apply>} {
  %w = qt.read @w : tensor<4xf32>
  %m = qt.read @w.m : tensor<4xf32>
  %v = qt.read @w.v : tensor<4xf32>
  %c = qt.read @c : tensor<2xi64>
  %counted = qt.optimizer_step %norm, %c : (tensor<f32>, tensor<2xi64>) -> tensor<2xi64>
  %n:3 = qt.adamw %x norm %norm counters %counted hyper %hyper seed %seed weight %w moments %m, %v decay false members [1, 4]
    : (tensor<4xf32>, tensor<f32>, tensor<2xi64>, tensor<8xf32>, tensor<i64>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
  qt.update @c, %counted : tensor<2xi64>
  qt.update @w, %n#0 : tensor<4xf32>
  qt.update @w.m, %n#1 : tensor<4xf32>
  qt.update @w.v, %n#2 : tensor<4xf32>
  qt.update @w.g, %x : tensor<4xf32>
  return
}
func.func @eval(%x: tensor<4xf32>) attributes {qt.entry = #qt.entry<eval>} {
  return
}

// -----

qt.parameter @w : tensor<4xf32> init <zeros> names ["w"]
qt.parameter @frozen : tensor<4xf32> frozen init <zeros> names ["frozen"]
qt.state @c counters : tensor<2xi64>
qt.state @w.m exp_avg of @w : tensor<4xf32>
qt.state @w.v exp_avg_sq of @w : tensor<4xf32>
qt.state @w.g gradient of @w : tensor<4xf32>
// expected-error @below {{'func.func' op expected one gradient of every trained parameter, but @w is not updated}}
func.func @step(%hyper: tensor<8xf32>, %seed: tensor<i64>, %norm: tensor<f32>, %x: tensor<4xf32>) attributes {qt.entry = #qt.entry<step>} {
  %w = qt.read @w : tensor<4xf32>
  %m = qt.read @w.m : tensor<4xf32>
  %v = qt.read @w.v : tensor<4xf32>
  %c = qt.read @c : tensor<2xi64>
  %counted = qt.optimizer_step %norm, %c : (tensor<f32>, tensor<2xi64>) -> tensor<2xi64>
  %n:3 = qt.adamw %x norm %norm counters %counted hyper %hyper seed %seed weight %w moments %m, %v decay false members [1, 4]
    : (tensor<4xf32>, tensor<f32>, tensor<2xi64>, tensor<8xf32>, tensor<i64>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
  qt.update @c, %counted : tensor<2xi64>
  qt.update @w.m, %n#1 : tensor<4xf32>
  qt.update @w.v, %n#2 : tensor<4xf32>
  return
}

// -----

qt.parameter @w : tensor<4xf32> init <zeros> names ["w"]
qt.parameter @frozen : tensor<4xf32> frozen init <zeros> names ["frozen"]
qt.state @c counters : tensor<2xi64>
qt.state @w.m exp_avg of @w : tensor<4xf32>
qt.state @w.v exp_avg_sq of @w : tensor<4xf32>
qt.state @w.g gradient of @w : tensor<4xf32>
func.func @step(%hyper: tensor<8xf32>, %seed: tensor<i64>, %norm: tensor<f32>, %x: tensor<4xf32>) attributes {qt.entry = #qt.entry<step>} {
  %w = qt.read @w : tensor<4xf32>
  %m = qt.read @w.m : tensor<4xf32>
  %v = qt.read @w.v : tensor<4xf32>
  %c = qt.read @c : tensor<2xi64>
  %counted = qt.optimizer_step %norm, %c : (tensor<f32>, tensor<2xi64>) -> tensor<2xi64>
  %n:3 = qt.adamw %x norm %norm counters %counted hyper %hyper seed %seed weight %w moments %m, %v decay false members [1, 4]
    : (tensor<4xf32>, tensor<f32>, tensor<2xi64>, tensor<8xf32>, tensor<i64>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
  qt.update @c, %counted : tensor<2xi64>
  // expected-error @below {{'qt.update' op expected the new weight of a qt.adamw for @w, got argument 3 of the function}}
  qt.update @w, %x : tensor<4xf32>
  qt.update @w.m, %n#1 : tensor<4xf32>
  qt.update @w.v, %n#2 : tensor<4xf32>
  return
}

// -----

qt.parameter @w : tensor<4xf32> init <zeros> names ["w"]
qt.parameter @frozen : tensor<4xf32> frozen init <zeros> names ["frozen"]
qt.state @c counters : tensor<2xi64>
qt.state @w.m exp_avg of @w : tensor<4xf32>
qt.state @w.v exp_avg_sq of @w : tensor<4xf32>
qt.state @w.g gradient of @w : tensor<4xf32>
func.func @step(%hyper: tensor<8xf32>, %seed: tensor<i64>, %norm: tensor<f32>, %x: tensor<4xf32>) attributes {qt.entry = #qt.entry<step>} {
  %w = qt.read @frozen : tensor<4xf32>
  %m = qt.read @w.m : tensor<4xf32>
  %v = qt.read @w.v : tensor<4xf32>
  %c = qt.read @c : tensor<2xi64>
  %counted = qt.optimizer_step %norm, %c : (tensor<f32>, tensor<2xi64>) -> tensor<2xi64>
  // expected-error @below {{'qt.adamw' op expected to update the weight that was read from @w, got @frozen}}
  %n:3 = qt.adamw %x norm %norm counters %counted hyper %hyper seed %seed weight %w moments %m, %v decay false members [1, 4]
    : (tensor<4xf32>, tensor<f32>, tensor<2xi64>, tensor<8xf32>, tensor<i64>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
  qt.update @c, %counted : tensor<2xi64>
  qt.update @w, %n#0 : tensor<4xf32>
  qt.update @w.m, %n#1 : tensor<4xf32>
  qt.update @w.v, %n#2 : tensor<4xf32>
  return
}

// -----

qt.parameter @w : tensor<4xf32> init <zeros> names ["w"]
qt.parameter @frozen : tensor<4xf32> frozen init <zeros> names ["frozen"]
qt.state @c counters : tensor<2xi64>
qt.state @w.m exp_avg of @w : tensor<4xf32>
qt.state @w.v exp_avg_sq of @w : tensor<4xf32>
qt.state @w.g gradient of @w : tensor<4xf32>
func.func @step(%hyper: tensor<8xf32>, %seed: tensor<i64>, %norm: tensor<f32>, %x: tensor<4xf32>) attributes {qt.entry = #qt.entry<step>} {
  %w = qt.read @w : tensor<4xf32>
  %m = qt.read @w.m : tensor<4xf32>
  %v = qt.read @w.v : tensor<4xf32>
  %c = qt.read @c : tensor<2xi64>
  %counted = qt.optimizer_step %norm, %c : (tensor<f32>, tensor<2xi64>) -> tensor<2xi64>
  %n:3 = qt.adamw %x norm %norm counters %counted hyper %hyper seed %seed weight %w moments %m, %v decay false members [1, 4]
    : (tensor<4xf32>, tensor<f32>, tensor<2xi64>, tensor<8xf32>, tensor<i64>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
  qt.update @c, %counted : tensor<2xi64>
  qt.update @w, %n#0 : tensor<4xf32>
  qt.update @w.m, %n#1 : tensor<4xf32>
  qt.update @w.v, %n#2 : tensor<4xf32>
  // expected-error @below {{'qt.update' op expected no update of @frozen in an entry function of kind step}}
  qt.update @frozen, %x : tensor<4xf32>
  return
}

// -----

qt.parameter @w : tensor<4xf32> init <zeros> names ["w"]
qt.parameter @frozen : tensor<4xf32> frozen init <zeros> names ["frozen"]
qt.state @c counters : tensor<2xi64>
qt.state @w.m exp_avg of @w : tensor<4xf32>
qt.state @w.v exp_avg_sq of @w : tensor<4xf32>
qt.state @w.g gradient of @w : tensor<4xf32>
func.func @step(%hyper: tensor<8xf32>, %seed: tensor<i64>, %norm: tensor<f32>, %x: tensor<4xf32>) attributes {qt.entry = #qt.entry<step>} {
  %w = qt.read @w : tensor<4xf32>
  %m = qt.read @w.m : tensor<4xf32>
  %v = qt.read @w.v : tensor<4xf32>
  %c = qt.read @c : tensor<2xi64>
  %counted = qt.optimizer_step %norm, %c : (tensor<f32>, tensor<2xi64>) -> tensor<2xi64>
  %n:3 = qt.adamw %x norm %norm counters %counted hyper %hyper seed %seed weight %w moments %m, %v decay false members [1, 4]
    : (tensor<4xf32>, tensor<f32>, tensor<2xi64>, tensor<8xf32>, tensor<i64>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
  qt.update @c, %counted : tensor<2xi64>
  qt.update @w, %n#0 : tensor<4xf32>
  qt.update @w.m, %n#1 : tensor<4xf32>
  qt.update @w.v, %n#2 : tensor<4xf32>
  // expected-error @below {{'qt.update' op expected no update of @w.g in an entry function of kind step}}
  qt.update @w.g, %x : tensor<4xf32>
  return
}

// -----

qt.parameter @w : tensor<4xf32> init <zeros> names ["w"]
qt.parameter @frozen : tensor<4xf32> frozen init <zeros> names ["frozen"]
qt.state @c counters : tensor<2xi64>
qt.state @w.m exp_avg of @w : tensor<4xf32>
qt.state @w.v exp_avg_sq of @w : tensor<4xf32>
qt.state @w.g gradient of @w : tensor<4xf32>
func.func @step(%hyper: tensor<8xf32>, %seed: tensor<i64>, %norm: tensor<f32>, %x: tensor<4xf32>) attributes {qt.entry = #qt.entry<step>} {
  %w = qt.read @w : tensor<4xf32>
  %m = qt.read @w.m : tensor<4xf32>
  %v = qt.read @w.v : tensor<4xf32>
  %c = qt.read @c : tensor<2xi64>
  %counted = qt.optimizer_step %norm, %c : (tensor<f32>, tensor<2xi64>) -> tensor<2xi64>
  %n:3 = qt.adamw %x norm %norm counters %counted hyper %hyper seed %seed weight %w moments %m, %v decay false members [1, 4]
    : (tensor<4xf32>, tensor<f32>, tensor<2xi64>, tensor<8xf32>, tensor<i64>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
  qt.update @c, %counted : tensor<2xi64>
  // expected-note @below {{updated here}}
  qt.update @w, %n#0 : tensor<4xf32>
  qt.update @w.m, %n#1 : tensor<4xf32>
  qt.update @w.v, %n#2 : tensor<4xf32>
  // expected-error @below {{'qt.update' op expected at most one update of @w in a function, got a second}}
  qt.update @w, %n#0 : tensor<4xf32>
  return
}

// -----

qt.parameter @w : tensor<4xf32> init <zeros> names ["w"]
qt.parameter @frozen : tensor<4xf32> frozen init <zeros> names ["frozen"]
qt.state @c counters : tensor<2xi64>
qt.state @w.m exp_avg of @w : tensor<4xf32>
qt.state @w.v exp_avg_sq of @w : tensor<4xf32>
qt.state @w.g gradient of @w : tensor<4xf32>
func.func @step(%hyper: tensor<8xf32>, %seed: tensor<i64>, %norm: tensor<f32>, %x: tensor<4xf32>) attributes {qt.entry = #qt.entry<step>} {
  %w = qt.read @w : tensor<4xf32>
  %m = qt.read @w.m : tensor<4xf32>
  %v = qt.read @w.v : tensor<4xf32>
  %c = qt.read @c : tensor<2xi64>
  %counted = qt.optimizer_step %norm, %c : (tensor<f32>, tensor<2xi64>) -> tensor<2xi64>
  %n:3 = qt.adamw %x norm %norm counters %counted hyper %hyper seed %seed weight %w moments %m, %v decay false members [1, 4]
    : (tensor<4xf32>, tensor<f32>, tensor<2xi64>, tensor<8xf32>, tensor<i64>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
  qt.update @c, %counted : tensor<2xi64>
  // expected-note @below {{updated here}}
  qt.update @w, %n#0 : tensor<4xf32>
  qt.update @w.m, %n#1 : tensor<4xf32>
  qt.update @w.v, %n#2 : tensor<4xf32>
  // expected-error @below {{'qt.read' op expected all reads of @w before its update}}
  %late = qt.read @w : tensor<4xf32>
  return
}

// -----

// A pack and its members are one buffer.
qt.parameter @w : tensor<4xf32> init <zeros> names ["w"]
qt.parameter @frozen : tensor<4xf32> frozen init <zeros> names ["frozen"]
qt.state @c counters : tensor<2xi64>
qt.state @w.m exp_avg of @w : tensor<4xf32>
qt.state @w.v exp_avg_sq of @w : tensor<4xf32>
qt.state @w.g gradient of @w : tensor<4xf32>
qt.parameter_pack @p [@w] : tensor<4xf32>
func.func @accumulate(%x: tensor<4xf32>) attributes {qt.entry = #qt.entry<accumulate>} {
  // expected-note @below {{updated here}}
  qt.update @p, %x : tensor<4xf32>
  // expected-error @below {{'qt.update' op expected at most one update of @w in a function, got a second}}
  qt.update @w, %x : tensor<4xf32>
  return
}

// -----

qt.parameter @w : tensor<4xf32> init <zeros> names ["w"]
qt.parameter @frozen : tensor<4xf32> frozen init <zeros> names ["frozen"]
qt.state @c counters : tensor<2xi64>
qt.state @w.m exp_avg of @w : tensor<4xf32>
qt.state @w.v exp_avg_sq of @w : tensor<4xf32>
qt.state @w.g gradient of @w : tensor<4xf32>
// expected-error @below {{'func.func' op expected one gradient of every trained parameter, but @w.g is not updated}}
func.func @accumulate(%x: tensor<4xf32>) attributes {qt.entry = #qt.entry<accumulate>} {
  return
}

// -----

qt.parameter @w : tensor<4xf32> init <zeros> names ["w"]
qt.parameter @frozen : tensor<4xf32> frozen init <zeros> names ["frozen"]
qt.state @c counters : tensor<2xi64>
qt.state @w.m exp_avg of @w : tensor<4xf32>
qt.state @w.v exp_avg_sq of @w : tensor<4xf32>
qt.state @w.g gradient of @w : tensor<4xf32>
func.func @accumulate(%x: tensor<4xf32>) attributes {qt.entry = #qt.entry<accumulate>} {
  qt.update @w.g, %x : tensor<4xf32>
  // expected-error @below {{'qt.update' op expected no update of @w.m in an entry function of kind accumulate}}
  qt.update @w.m, %x : tensor<4xf32>
  return
}

// -----

qt.parameter @w : tensor<4xf32> init <zeros> names ["w"]
qt.parameter @frozen : tensor<4xf32> frozen init <zeros> names ["frozen"]
qt.state @c counters : tensor<2xi64>
qt.state @w.m exp_avg of @w : tensor<4xf32>
qt.state @w.v exp_avg_sq of @w : tensor<4xf32>
qt.state @w.g gradient of @w : tensor<4xf32>
func.func @eval(%x: tensor<4xf32>) attributes {qt.entry = #qt.entry<eval>} {
  // expected-error @below {{'qt.update' op expected no update of @w.g in an entry function of kind eval}}
  qt.update @w.g, %x : tensor<4xf32>
  return
}

// -----

// expected-error @below {{'qt.parameter' op expected a state of kind gradient for every trained parameter, got none}}
qt.parameter @w : tensor<4xf32> init <zeros> names ["w"]
func.func @accumulate(%x: tensor<4xf32>) attributes {qt.entry = #qt.entry<accumulate>} {
  return
}

// -----

qt.parameter @w : tensor<4xf32> init <zeros> names ["w"]
qt.state @a gradient of @w : tensor<4xf32>
// expected-error @below {{'qt.state' op expected one gradient of @w, got a second}}
qt.state @b gradient of @w : tensor<4xf32>

// -----

// expected-error @below {{'func.func' op expected the model to have become entry functions}}
func.func @model() attributes {qt.entry = #qt.entry<model>} {
  return
}

// -----

// Each kind must be there.
// expected-error @below {{expected an entry function of kind apply, got none}}
module {
  func.func @step() attributes {qt.entry = #qt.entry<step>} {
    return
  }
  func.func @accumulate() attributes {qt.entry = #qt.entry<accumulate>} {
    return
  }
  func.func @eval() attributes {qt.entry = #qt.entry<eval>} {
    return
  }
}
