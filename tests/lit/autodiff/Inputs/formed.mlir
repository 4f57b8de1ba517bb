// A formed model of one delta-rule layer and one attention layer, its head tied to the embedding: what autodiff begins from.
!h = tensor<?x8xbf16>
!heads = tensor<?x2x4xbf16>
!one = tensor<?x1x4xbf16>
!gates = tensor<?x2xbf16>

module attributes {qt.vocabulary = 11 : i64} {
qt.parameter @embed_tokens.weight : tensor<11x8xbf16> init <normal, 0.0, 0.02> names ["model.embed_tokens.weight"]
qt.parameter @layers.0.input_layernorm.weight : tensor<8xbf16> init <zeros> names ["model.layers.0.input_layernorm.weight"]
qt.parameter @layers.0.linear_attn.in_proj_qkv.weight : tensor<16x8xbf16> init <normal, 0.0, 0.02> names ["model.layers.0.linear_attn.in_proj_qkv.weight"]
qt.parameter @layers.0.linear_attn.in_proj_z.weight : tensor<8x8xbf16> init <normal, 0.0, 0.02> names ["model.layers.0.linear_attn.in_proj_z.weight"]
qt.parameter @layers.0.linear_attn.in_proj_b.weight : tensor<2x8xbf16> init <normal, 0.0, 0.02> names ["model.layers.0.linear_attn.in_proj_b.weight"]
qt.parameter @layers.0.linear_attn.in_proj_a.weight : tensor<2x8xbf16> init <normal, 0.0, 0.02> names ["model.layers.0.linear_attn.in_proj_a.weight"]
qt.parameter @layers.0.linear_attn.conv1d.weight : tensor<16x1x4xbf16> init <normal, 0.0, 0.02> names ["model.layers.0.linear_attn.conv1d.weight"]
qt.parameter @layers.0.linear_attn.A_log : tensor<2xf32> init <log_uniform, 0.01, 16.0> names ["model.layers.0.linear_attn.A_log"]
qt.parameter @layers.0.linear_attn.dt_bias : tensor<2xbf16> init <ones> names ["model.layers.0.linear_attn.dt_bias"]
qt.parameter @layers.0.linear_attn.norm.weight : tensor<4xf32> init <ones> names ["model.layers.0.linear_attn.norm.weight"]
qt.parameter @layers.0.linear_attn.out_proj.weight : tensor<8x8xbf16> init <normal, 0.0, 0.02> names ["model.layers.0.linear_attn.out_proj.weight"]
qt.parameter @layers.0.post_attention_layernorm.weight : tensor<8xbf16> init <zeros> names ["model.layers.0.post_attention_layernorm.weight"]
qt.parameter @layers.0.mlp.gate_proj.weight : tensor<6x8xbf16> init <normal, 0.0, 0.02> names ["model.layers.0.mlp.gate_proj.weight"]
qt.parameter @layers.0.mlp.up_proj.weight : tensor<6x8xbf16> init <normal, 0.0, 0.02> names ["model.layers.0.mlp.up_proj.weight"]
qt.parameter @layers.0.mlp.down_proj.weight : tensor<8x6xbf16> init <normal, 0.0, 0.02> names ["model.layers.0.mlp.down_proj.weight"]
qt.parameter @layers.1.input_layernorm.weight : tensor<8xbf16> init <zeros> names ["model.layers.1.input_layernorm.weight"]
qt.parameter @layers.1.self_attn.q_proj.weight : tensor<16x8xbf16> init <normal, 0.0, 0.02> names ["model.layers.1.self_attn.q_proj.weight"]
qt.parameter @layers.1.self_attn.k_proj.weight : tensor<4x8xbf16> init <normal, 0.0, 0.02> names ["model.layers.1.self_attn.k_proj.weight"]
qt.parameter @layers.1.self_attn.v_proj.weight : tensor<4x8xbf16> init <normal, 0.0, 0.02> names ["model.layers.1.self_attn.v_proj.weight"]
qt.parameter @layers.1.self_attn.q_norm.weight : tensor<4xbf16> init <zeros> names ["model.layers.1.self_attn.q_norm.weight"]
qt.parameter @layers.1.self_attn.k_norm.weight : tensor<4xbf16> init <zeros> names ["model.layers.1.self_attn.k_norm.weight"]
qt.parameter @layers.1.self_attn.o_proj.weight : tensor<8x8xbf16> init <normal, 0.0, 0.02> names ["model.layers.1.self_attn.o_proj.weight"]
qt.parameter @norm.weight : tensor<8xbf16> init <zeros> names ["model.norm.weight"]
qt.parameter_pack @layers.0.linear_attn.in_proj [@layers.0.linear_attn.in_proj_qkv.weight, @layers.0.linear_attn.in_proj_z.weight,
  @layers.0.linear_attn.in_proj_b.weight, @layers.0.linear_attn.in_proj_a.weight] : tensor<28x8xbf16>
qt.parameter_pack @layers.0.mlp.gate_up [@layers.0.mlp.gate_proj.weight, @layers.0.mlp.up_proj.weight] : tensor<12x8xbf16>
qt.parameter_pack @layers.1.self_attn.qkv [@layers.1.self_attn.q_proj.weight, @layers.1.self_attn.k_proj.weight,
  @layers.1.self_attn.v_proj.weight] : tensor<24x8xbf16>

func.func @model(%ids: tensor<?xi32> {qt.argument = #qt.argument<ids>}, %labels: tensor<?xi32> {qt.argument = #qt.argument<labels>},
                 %docs: !qt.segments {qt.argument = #qt.argument<segments>})
    -> (tensor<f32> {qt.result = #qt.result<loss>}) attributes {qt.entry = #qt.entry<model>} {
  %embed = qt.read @embed_tokens.weight : tensor<11x8xbf16>
  %x0 = qt.embedding %docs, %ids, %embed {qt.scope = "embed_tokens"} : (!qt.segments, tensor<?xi32>, tensor<11x8xbf16>) -> !h
  qt.watch %x0 as "hidden.0" : !h

  %w1 = qt.read @layers.0.input_layernorm.weight : tensor<8xbf16>
  %n1 = qt.rms_norm %x0, %w1 eps 1.0e-6 {qt.scope = "layers.0.input_layernorm"} : (!h, tensor<8xbf16>) -> !h
  %w2 = qt.read @layers.0.linear_attn.in_proj : tensor<28x8xbf16>
  %in = qt.linear %n1, %w2 {qt.scope = "layers.0.linear_attn.in_proj"} : !h, tensor<28x8xbf16> -> tensor<?x28xbf16>
  %qkv, %z, %b, %a = qt.split %in dim 1 {qt.scope = "layers.0.linear_attn.in_proj"} : tensor<?x28xbf16> -> tensor<?x16xbf16>, !h, !gates, !gates
  %w3 = qt.read @layers.0.linear_attn.conv1d.weight : tensor<16x1x4xbf16>
  %w4 = qt.read @layers.0.linear_attn.A_log : tensor<2xf32>
  %w5 = qt.read @layers.0.linear_attn.dt_bias : tensor<2xbf16>
  %q, %k, %v, %g, %beta = qt.gated_delta_inputs %docs, %qkv, %b, %a conv %w3, %w4, %w5 eps 1.0e-6 {qt.scope = "layers.0.linear_attn"}
    : (!qt.segments, tensor<?x16xbf16>, !gates, !gates, tensor<16x1x4xbf16>, tensor<2xf32>, tensor<2xbf16>)
    -> (!one, !one, !heads, tensor<?x2xf32>, !gates)
  %o = qt.gated_delta_rule %docs, %q, %k, %v, %g, %beta scale 0.5 {qt.scope = "layers.0.linear_attn"}
    : (!qt.segments, !one, !one, !heads, tensor<?x2xf32>, !gates) -> !heads
  %zh = qt.reshape %z : !h -> !heads
  %w6 = qt.read @layers.0.linear_attn.norm.weight : tensor<4xf32>
  %y = qt.gated_rms_norm %o, %zh, %w6 eps 1.0e-6 {qt.scope = "layers.0.linear_attn.norm"} : (!heads, !heads, tensor<4xf32>) -> !heads
  %yf = qt.reshape %y : !heads -> !h
  %w7 = qt.read @layers.0.linear_attn.out_proj.weight : tensor<8x8xbf16>
  %d1 = qt.linear %yf, %w7 {qt.scope = "layers.0.linear_attn.out_proj"} : !h, tensor<8x8xbf16> -> !h
  %w8 = qt.read @layers.0.post_attention_layernorm.weight : tensor<8xbf16>
  %x1, %n2 = qt.add_rms_norm %x0, %d1, %w8 eps 1.0e-6 {qt.scope = "layers.0.post_attention_layernorm"} : (!h, !h, tensor<8xbf16>) -> !h, !h
  %w9 = qt.read @layers.0.mlp.gate_up : tensor<12x8xbf16>
  %gu = qt.linear %n2, %w9 {qt.scope = "layers.0.mlp.gate_up"} : !h, tensor<12x8xbf16> -> tensor<?x12xbf16>
  %gate, %up = qt.split %gu dim 1 : tensor<?x12xbf16> -> tensor<?x6xbf16>, tensor<?x6xbf16>
  %act = qt.swiglu %gate, %up {qt.scope = "layers.0.mlp"} : (tensor<?x6xbf16>, tensor<?x6xbf16>) -> tensor<?x6xbf16>
  %w10 = qt.read @layers.0.mlp.down_proj.weight : tensor<8x6xbf16>
  %d2 = qt.linear %act, %w10 {qt.scope = "layers.0.mlp.down_proj"} : tensor<?x6xbf16>, tensor<8x6xbf16> -> !h
  %w11 = qt.read @layers.1.input_layernorm.weight : tensor<8xbf16>
  %x2, %n3 = qt.add_rms_norm %x1, %d2, %w11 eps 1.0e-6 {qt.scope = "layers.1.input_layernorm"} : (!h, !h, tensor<8xbf16>) -> !h, !h
  qt.watch %x2 as "hidden.1" : !h

  %w12 = qt.read @layers.1.self_attn.qkv : tensor<24x8xbf16>
  %in2 = qt.linear %n3, %w12 {qt.scope = "layers.1.self_attn.qkv"} : !h, tensor<24x8xbf16> -> tensor<?x24xbf16>
  %qg, %kf, %vf = qt.split %in2 dim 1 : tensor<?x24xbf16> -> tensor<?x16xbf16>, tensor<?x4xbf16>, tensor<?x4xbf16>
  %qgh = qt.reshape %qg : tensor<?x16xbf16> -> tensor<?x2x8xbf16>
  %q_in, %ogate = qt.split %qgh dim 2 : tensor<?x2x8xbf16> -> !heads, !heads
  %k_in = qt.reshape %kf : tensor<?x4xbf16> -> !one
  %vh = qt.reshape %vf : tensor<?x4xbf16> -> !one
  %w13 = qt.read @layers.1.self_attn.q_norm.weight : tensor<4xbf16>
  %w14 = qt.read @layers.1.self_attn.k_norm.weight : tensor<4xbf16>
  %qr, %kr = qt.qk_norm_rope %docs, %q_in, %k_in, %w13, %w14 eps 1.0e-6 theta 1.0e4 dims 2 {qt.scope = "layers.1.self_attn"}
    : (!qt.segments, !heads, !one, tensor<4xbf16>, tensor<4xbf16>) -> !heads, !one
  %att = qt.attention %docs, %qr, %kr, %vh gate %ogate scale 0.5 {qt.scope = "layers.1.self_attn"} : (!qt.segments, !heads, !one, !one, !heads) -> !heads
  %attf = qt.reshape %att : !heads -> !h
  %w15 = qt.read @layers.1.self_attn.o_proj.weight : tensor<8x8xbf16>
  %d3 = qt.linear %attf, %w15 {qt.scope = "layers.1.self_attn.o_proj"} : !h, tensor<8x8xbf16> -> !h
  %w16 = qt.read @norm.weight : tensor<8xbf16>
  %x3, %f = qt.add_rms_norm %x2, %d3, %w16 eps 1.0e-6 {qt.scope = "norm"} : (!h, !h, tensor<8xbf16>) -> !h, !h
  qt.watch %f as "hidden.2" : !h
  %rows = qt.gather_rows %docs, %f {qt.scope = "lm_head"} : (!qt.segments, !h) -> !h
  %targets = qt.gather_rows %docs, %labels {qt.scope = "lm_head"} : (!qt.segments, tensor<?xi32>) -> tensor<?xi32>
  %head = qt.read @embed_tokens.weight : tensor<11x8xbf16>
  %loss = qt.linear_cross_entropy %rows, %head, %targets {qt.scope = "lm_head"} : (!h, tensor<11x8xbf16>, tensor<?xi32>) -> tensor<f32>
  return %loss : tensor<f32>
}
}
