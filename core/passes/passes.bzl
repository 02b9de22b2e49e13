"""The passes, and what each of them depends on."""

# One pass a library. pipeline puts those for every target into their order, backends the others.
PASSES = {
    "alter_layout": [
        ":canonicalize_rules",
        ":channel_layout",
        ":graph_rewriter",
        ":pack_constants",
        "//core/graph:bind_symbols",
        "//core/operators:convolution",
        "//core/operators:window",
    ],
    "call_kernels": [
        ":is_lowered",
        ":limits",
        "//core/base:utf8",
        "//core/graph:bind_symbols",
        "//core/graph:edit",
        "//core/operators:fused",
        "//core/reference:kernel",
    ],
    "canonicalize_ops": [
        ":canonicalize_rules",
        ":dead_code_pass",
        ":graph_rewriter",
    ],
    "choose_convolution": [
        ":graph_rewriter",
        ":pack_constants",
        "//core/operators:convolution",
        "//core/operators:window",
    ],
    "complete_outputs": [
        ":open_extents",
        "//core/graph:edit",
        "//core/operators:control",
    ],
    "dead_code": [
        ":captures",
        "//core/graph:edit",
    ],
    "delay_resize": [
        ":canonicalize_rules",
        ":computed_constant",
        ":graph_rewriter",
        "//core/operators:convolution",
        "//core/operators:resize",
    ],
    "eliminate_common_subexpr": [
        ":graph_rewriter",
        "//core/graph:edit",
    ],
    "expand_gradients": [
        ":gradient_pass",
        ":inline_body",
        ":limits",
        "//core/graph:edit",
        "//core/operators:training",
        "//core/passes/gradients:register_all",
    ],
    "expand_ops": [
        ":expand_rules",
        ":graph_rewriter",
        ":is_lowered",
    ],
    "fold_constant": [
        ":constant_node",
        ":dead_code_pass",
        ":limits",
    ],
    "fold_pad": [
        ":graph_rewriter",
        "//core/operators:movement",
    ],
    "fold_scale_axis": [
        ":computed_constant",
        ":fold_into_producer",
        ":graph_rewriter",
    ],
    "fuse_attention": [
        ":canonicalize_rules",
        ":dead_code_pass",
        ":graph_rewriter",
        "//core/operators:attention",
    ],
    "fuse_ops": [
        "//core/base:utf8",
        ":fusion_groups",
        ":limits",
        "//core/graph:bind_symbols",
        "//core/graph:edit",
        "//core/operators:fused",
        "//core/tensor:finite",
    ],
    "infer_type": [
        ":body_types",
        ":constant_node",
        ":contents",
        ":inline_branch",
        ":known_sequences",
        ":open_extents",
        ":limits",
        ":narrow_symbols",
        "//core/graph:bind_symbols",
        "//core/graph:edit",
        "//core/reference:kernel",
    ],
    "gradient": [
        ":dead_code_pass",
        "//core/graph:bind_symbols",
        "//core/graph:edit",
        "//core/operators:checks",
        "//core/passes/gradients:gradient_node",
    ],
    "lower_strings": [
        ":bodies",
        ":infer_type_pass",
        ":limits",
        ":open_extents",
        "//core/graph:edit",
        "//core/operators:control",
        "//core/reference:string_nodes",
        "//core/tensor:strings",
    ],
    "merge_transposes": [
        ":canonicalize_rules",
        ":dead_code_pass",
        ":graph_rewriter",
    ],
    "pack_gemm": [
        ":graph_rewriter",
        ":pack_constants",
    ],
    "recognize_gelu": [
        ":graph_rewriter",
    ],
    "simplify_inference": [
        ":fold_into_producer",
        ":graph_rewriter",
    ],
}

BACKEND_PASSES = [
    "alter_layout",
    "call_kernels",
    "choose_convolution",
    "complete_outputs",
    "expand_ops",
    "fuse_attention",
    "fuse_ops",
    "merge_transposes",
    "pack_gemm",
]
