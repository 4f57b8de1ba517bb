#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Training steps of the stack that we compare with: transformers, with the fused kernels that a user can install.

    hf_step.py --weights HF_DIR --data ids.jsonl [--checkpointing] [--steps N] [--lr X] [--profile]

Trains on one packed row that holds the documents of the JSONL (`input_ids`, `labels` as for `qrun pack`), from the weights
of a Hugging Face folder, with torch's fused AdamW in the weights' own type: the same ids and initial values as

    qrun train --program x.qprog --data packed/ --weights HF_DIR ...

Uses, where they are installed: flash-linear-attention (with FlashQLA), causal-conv1d, Liger's fused cross-entropy, and
torch's variable-length flash attention. Says which of them are there. Prints the median step, the loss of each step, the
memory that torch had at most, and with --profile the GPU's operations.
"""
import argparse
import collections
import importlib
import json
import statistics
import time

import torch
import transformers
from transformers.masking_utils import AttentionMaskInterface, flash_attention_mask
from transformers.models.qwen3_5 import modeling_qwen3_5


def varlen(module, query, key, value, attention_mask, scaling=None, dropout=0.0, cu_seq_lens_q=None, max_length_q=None, **_):
    """Packed attention by torch's own flash attention."""
    from torch.nn.attention.varlen import varlen_attn

    query, key, value = (tensor[0].transpose(0, 1).contiguous() for tensor in (query, key, value))
    ratio = query.shape[1] // key.shape[1]
    key, value = key.repeat_interleave(ratio, 1), value.repeat_interleave(ratio, 1)
    arguments = (query, key, value, cu_seq_lens_q, cu_seq_lens_q, max_length_q, max_length_q)
    try:
        out = varlen_attn(*arguments, scale=scaling, window_size=(-1, 0))
    except TypeError:  # before torch 2.12
        out = varlen_attn(*arguments, is_causal=True, scale=scaling)
    return out[None], None


def installed():
    for name in ("fla", "flash_qla", "causal_conv1d", "liger_kernel"):
        try:
            yield name, getattr(importlib.import_module(name), "__version__", "installed")
        except ImportError:
            yield name, None


def packed_row(path):
    """The documents of a JSONL behind one another, and what transformers wants to know about their boundaries."""
    documents = [json.loads(line) for line in open(path)]
    lengths = torch.tensor([len(document["input_ids"]) for document in documents])
    ids = torch.tensor([token for document in documents for token in document["input_ids"]]).cuda()[None]
    labels = torch.tensor([label for document in documents for label in [-100, *document["labels"][1:]]]).cuda()[None]
    bounds = torch.cat([torch.zeros(1, dtype=torch.int64), lengths.cumsum(0)]).int().cuda()
    longest = int(lengths.max())
    return ids, labels, dict(
        position_ids=torch.cat([torch.arange(length) for length in lengths])[None].cuda(),
        cu_seq_lens_q=bounds, cu_seq_lens_k=bounds, max_length_q=longest, max_length_k=longest,
        seq_idx=torch.repeat_interleave(torch.arange(len(lengths)), lengths)[None].int().cuda())


def operations(step):
    """What the GPU did in a step, by name: times and counts."""
    from torch.profiler import ProfilerActivity, profile

    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as trace:
        step()
        torch.cuda.synchronize()
    totals = collections.defaultdict(lambda: [0, 0.0])
    for event in trace.events():
        if event.device_type == torch.autograd.DeviceType.CUDA:
            totals[event.name[:90]][0] += 1
            totals[event.name[:90]][1] += event.time_range.elapsed_us() / 1e3
    print(f"GPU operations: {sum(count for count, _ in totals.values())}, {sum(ms for _, ms in totals.values()):.1f} ms")
    for name, (count, milliseconds) in sorted(totals.items(), key=lambda item: -item[1][1])[:25]:
        print(f"  {milliseconds:9.2f} ms {count:6d}  {name}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--weights", required=True)
    parser.add_argument("--data", required=True)
    parser.add_argument("--checkpointing", action="store_true", help="recompute each layer")
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--lr", type=float, default=1e-5)
    parser.add_argument("--profile", action="store_true")
    options = parser.parse_args()

    print("transformers", transformers.__version__, "torch", torch.__version__, *(f"{name} {version}" for name, version in installed()))
    transformers.AttentionInterface.register("varlen", varlen)
    AttentionMaskInterface.register("varlen", flash_attention_mask)
    model = modeling_qwen3_5.Qwen3_5ForCausalLM.from_pretrained(options.weights, dtype=torch.bfloat16, attn_implementation="varlen").cuda()
    if dict(installed())["liger_kernel"]:
        from liger_kernel.transformers import apply_liger_kernel_to_qwen3_5

        apply_liger_kernel_to_qwen3_5(model=model)
    model.train()
    if options.checkpointing:
        model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
    optimizer = torch.optim.AdamW(model.parameters(), lr=options.lr, weight_decay=0.1, fused=True)
    ids, labels, boundaries = packed_row(options.data)

    def step():
        loss = model(input_ids=ids, labels=labels, use_cache=False, **boundaries).loss
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        return float(loss.detach())

    begin = time.perf_counter()
    losses = [step()]
    print(f"first step after {time.perf_counter() - begin:.1f} s")
    losses.append(step())
    torch.cuda.synchronize()
    times = []
    for _ in range(options.steps):
        begin = time.perf_counter()
        losses.append(step())
        torch.cuda.synchronize()
        times.append(time.perf_counter() - begin)
    print(json.dumps(dict(tokens=ids.numel(), checkpointing=options.checkpointing, step_ms=round(1e3 * statistics.median(times), 1),
                          fastest_ms=round(1e3 * min(times), 1), memory_gb=round(torch.cuda.max_memory_allocated() / 1e9, 1),
                          losses=[round(loss, 4) for loss in losses[:8]])))
    if options.profile:
        operations(step)


if __name__ == "__main__":
    main()
