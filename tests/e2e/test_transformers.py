# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Exported checkpoints in stock transformers: they load strictly and compute the same (docs/failures.md 10, 16, 17).

Needs the environment of `tools/python_env.sh --with-transformers`; tests/with_transformers.sh runs it there.
"""
import json
import pathlib
import shutil
import sys
import unittest

import support
import tensors

sys.path.insert(0, str(support.GOLDEN))
import check_golden  # noqa: E402
import torch  # noqa: E402
import transformers  # noqa: E402
from safetensors.torch import load_file, save_file  # noqa: E402

DATA, DEMO = support.ROOT / "data", support.ROOT / "demo"
BOUND = 1e-5  # f32 per-token losses: norm of the difference over norm
TEXT_TENSOR, PUBLISHED = "model.", "model.language_model."
# What published checkpoints hold in f32 although the model is bf16 (docs/model.md).
F32_TENSORS = ("A_log", "linear_attn.norm.weight")


def load_strictly(folder, kind=transformers.AutoModelForCausalLM, **options):
    """The model of a checkpoint, in the type its configuration names. Every tensor of the model comes from the folder,
    and none is left over."""
    options = {"dtype": "auto", "attn_implementation": "eager", **options}
    model, info = kind.from_pretrained(folder, output_loading_info=True, **options)
    wrong = {key: names for key, names in info.items() if names}
    if wrong:
        raise AssertionError(f"{folder}: {wrong}")
    return model.eval()


def stored(folder):
    """All tensors of a checkpoint, of one file or sharded."""
    found = {}
    for path in sorted(pathlib.Path(folder).glob("model*.safetensors")):
        for name, tensor in load_file(path).items():
            assert name not in found, f"{folder}: {name} is in two files"
            found[name] = tensor
    return found


def same_bits(a, b):
    return a.dtype == b.dtype and a.shape == b.shape and torch.equal(a.contiguous().view(torch.uint8),
                                                                     b.contiguous().view(torch.uint8))


def logits(model, ids):
    with torch.no_grad():
        return model(input_ids=ids, use_cache=False).logits


def golden_ids(case):
    """Two rows of the golden case's tokens."""
    ids = load_file(support.GOLDEN / case / "batch.safetensors")["input_ids"].long()
    half = len(ids) // 2
    return ids[: 2 * half].view(2, half)


def packed_rows(folder):
    """Each row's documents as (ids, mask)."""
    folder = pathlib.Path(folder)
    for shard in json.loads((folder / "manifest.json").read_text())["shards"]:
        read = {name: values for name, (_, _, values) in tensors.read(folder / shard["file"]).items()}
        documents, rows = read["doc_offsets"], read["row_offsets"]
        for first, last in zip(rows, rows[1:]):
            bounds = documents[first : last + 1]
            yield [(read["input_ids"][begin:end], read["loss_mask"][begin:end])
                   for begin, end in zip(bounds, bounds[1:])]


def transformers_losses(model, packed):
    """Row number -> (positions, losses): each document goes through the model alone; position t of the row predicts
    token t + 1."""
    result = {}
    for number, documents in enumerate(packed_rows(packed)):
        positions, losses, start = [], [], 0
        for ids, mask in documents:
            targets = [t for t in range(1, len(ids)) if mask[t]]
            if targets:
                tokens = torch.tensor(list(ids))
                predicting = torch.tensor(targets) - 1
                row = logits(model, tokens[None])[0, predicting]
                losses.append(torch.nn.functional.cross_entropy(row, tokens[targets], reduction="none"))
                positions.extend(start + t - 1 for t in targets)
            start += len(ids)
        if positions:
            result[number] = (positions, torch.cat(losses))
    return result


class TransformersTest(support.TestCase):
    @classmethod
    def setUpClass(cls):
        transformers.utils.logging.set_verbosity_error()
        transformers.utils.logging.disable_progress_bar()
        # Tiny tensors gain nothing from threads, and where the machine is busy these wait for each other at every
        # operation.
        torch.set_num_threads(1)

    def program_for(self, source, name, *options, dtype=None):
        """A program of the checkpoint's own configuration."""
        module, program = self.work / f"{name}.mlir", self.work / f"{name}.qprog"
        support.run("qcc", "import", source, *(["--dtype", dtype] if dtype else []), "-o", module)
        support.run("qcc", "build", module, "-o", program, *options)
        return program

    def golden_packed(self, case):
        packed = self.work / f"{case}-packed"
        check_golden.write_packed(support.GOLDEN / case, packed,
                                  json.loads((support.GOLDEN / case / "golden.json").read_text())["tokens"])
        return packed

    def export(self, program, packed, source, name, *options):
        """The checkpoint of a run from `source`."""
        out = self.work / name
        support.run("qrun", "train", "--program", program, "--data", packed, "--weights", source, "--out", out,
                    *options)
        return out / "checkpoint"

    def assert_same_checkpoint(self, before, after):
        before, after = stored(before), stored(after)
        self.assertEqual(set(before), set(after))
        self.assertEqual([name for name in before if not same_bits(before[name], after[name])], [])

    def assert_same_logits(self, before, after, ids):
        self.assertTrue(torch.isfinite(logits(before, ids)).all())
        self.assertTrue(same_bits(logits(before, ids), logits(after, ids)), "logits")

    def assert_losses_agree(self, program, packed, checkpoint, name):
        """qrun eval's f32 per-token losses against transformers'."""
        dump = self.work / f"{name}-losses"
        support.run("qrun", "eval", "--program", program, "--data", packed, "--weights", checkpoint, "--dump-losses",
                    dump)
        expected = transformers_losses(load_strictly(checkpoint, dtype=torch.float32), packed)
        self.assertEqual([f"row-{number:05}.safetensors" for number in expected],
                         sorted(path.name for path in dump.iterdir()))
        ours, theirs = [], []
        for number, (positions, losses) in expected.items():
            row = load_file(dump / f"row-{number:05}.safetensors")
            self.assertEqual(row["position"].tolist(), positions)
            ours.append(row["loss"].double())
            theirs.append(losses.double())
        ours, theirs = torch.cat(ours), torch.cat(theirs)
        error = float((ours - theirs).norm() / theirs.norm())
        largest = float(((ours - theirs).abs() / theirs.abs()).max())
        print(
            f"\n  {name}: {len(ours)} trained tokens, mean loss {float(theirs.mean()):.4f}: {error:.1e} <= {BOUND:.0e} relative,"
            f" one token at most {float((ours - theirs).abs().max()):.1e} ({largest:.1e} of its own loss)", flush=True)
        self.assertLessEqual(error, BOUND, name)


class NoSteps(TransformersTest):
    """After 0 steps a checkpoint has the same bits and computes the same bits."""

    def test_golden(self):
        for case in check_golden.CASES:
            with self.subTest(case=case):
                source = support.GOLDEN / case
                packed = self.golden_packed(case)
                exported = self.export(self.program_for(source, case, "--data", packed), packed, source, f"{case}-out",
                                       "--steps", 0)
                self.assertEqual(set(load_file(source / "model.safetensors")), set(stored(exported)))
                before, after = load_strictly(source), load_strictly(exported)
                self.assertEqual(after.config.tie_word_embeddings, "lm_head.weight" not in stored(exported))
                self.assert_same_logits(before, after, golden_ids(case))

    def test_published_form(self):
        """bf16, sharded, the published prefix, with a vision tower and multi-token prediction; the root's flag says
        whether the head is tied."""
        for case, nested in (("tiny_tied", False), ("tiny_untied", True)):
            with self.subTest(case=case):
                source = self.published(case, nested)
                packed = self.golden_packed(case)
                program = self.program_for(source, case, "--data", packed)
                exported = self.export(program, packed, source, f"{case}-out", "--steps", 0)
                self.assert_same_checkpoint(source, exported)
                self.assertEqual((source / "config.json").read_bytes(), (exported / "config.json").read_bytes())
                kind = transformers.AutoModelForImageTextToText
                before, after = load_strictly(source, kind), load_strictly(exported, kind)
                self.assertEqual(after.dtype, torch.bfloat16)
                self.assert_same_logits(before, after, golden_ids(case))
                # Trained, too: the same names and types; what is not trained keeps its bits, what is trained changes.
                trained = self.export(program, packed, source, f"{case}-trained", "--steps", 2, "--lr", 1e-2)
                load_strictly(trained, kind)
                old, new = stored(source), stored(trained)
                self.assertEqual({name: tensor.dtype
                                  for name, tensor in old.items()},
                                 {name: tensor.dtype
                                  for name, tensor in new.items()})
                for name in old:
                    passed_through = name.startswith(("mtp.", "model.visual."))
                    self.assertEqual(same_bits(old[name], new[name]), passed_through, name)

    def published(self, case, nested_flag):
        """A golden checkpoint in the form in which the real ones are published. `nested_flag`: tie_word_embeddings of
        the text configuration, which means nothing beside the root's."""
        golden = support.GOLDEN / case
        text = json.loads((golden / "config.json").read_text())
        tied = text["tie_word_embeddings"]
        text.update(dtype="bfloat16", tie_word_embeddings=nested_flag)
        text.pop("architectures")
        vision = dict(depth=1, hidden_size=32, intermediate_size=48, num_heads=2, out_hidden_size=text["hidden_size"],
                      num_position_embeddings=16)
        config = transformers.Qwen3_5Config(text_config=text, vision_config=vision, tie_word_embeddings=tied,
                                            dtype="bfloat16", architectures=["Qwen3_5ForConditionalGeneration"])
        torch.manual_seed(1)
        model = transformers.Qwen3_5ForConditionalGeneration(config)
        extra = {name: tensor for name, tensor in model.state_dict().items() if name.startswith("model.visual.")}
        self.assertGreater(len(extra), 10)
        for name in ("fc.weight", "layers.0.mlp.up_proj.weight", "norm.weight", "pre_fc_norm_hidden.weight"):
            extra[f"mtp.{name}"] = torch.randn(3, text["hidden_size"])
        found = {}
        for name, tensor in {**load_file(golden / "model.safetensors"), **extra}.items():
            if name.startswith(TEXT_TENSOR) and name not in extra:
                name = PUBLISHED + name.removeprefix(TEXT_TENSOR)
            found[name] = tensor.contiguous() if name.endswith(F32_TENSORS) else tensor.bfloat16().contiguous()
        folder = self.work / f"{case}-published"
        folder.mkdir()
        config.save_pretrained(folder)
        names, shards, weight_map = sorted(found), 3, {}
        for shard in range(shards):
            file = f"model-{shard + 1:05}-of-{shards:05}.safetensors"
            part = names[shard * len(names) // shards : (shard + 1) * len(names) // shards]
            save_file({name: found[name] for name in part}, folder / file, metadata={"format": "pt"})
            weight_map.update(dict.fromkeys(part, file))
        size = sum(tensor.nbytes for tensor in found.values())
        (folder / "model.safetensors.index.json").write_text(
            json.dumps({"metadata": {"total_size": size}, "weight_map": weight_map}))
        return folder


class Head(TransformersTest):
    """Tied and untied heads after training."""

    def train(self, source, name):
        case = name if (support.GOLDEN / name).exists() else "tiny_tied"
        packed = self.golden_packed(case)
        program = self.program_for(source, name, "--data", packed)
        exported = self.export(program, packed, source, f"{name}-out", "--steps", 5, "--lr", 1e-3, "--warmup", 1)
        self.assert_losses_agree(program, packed, exported, name)
        again = self.export(program, packed, exported, f"{name}-again", "--steps", 0)
        self.assert_same_checkpoint(exported, again)
        return stored(source), stored(exported), load_strictly(exported)

    def test_tied(self):
        before, after, model = self.train(support.GOLDEN / "tiny_tied", "tiny_tied")
        self.assertNotIn("lm_head.weight", after)
        self.assertEqual(model.lm_head.weight.data_ptr(), model.model.embed_tokens.weight.data_ptr())
        self.assertTrue(torch.equal(model.lm_head.weight, after["model.embed_tokens.weight"]))
        self.assertFalse(torch.equal(before["model.embed_tokens.weight"], after["model.embed_tokens.weight"]))

    def test_tied_and_written_out(self):
        """A tied head that the source holds a second time is the trained embedding in the export."""
        source = self.work / "source"
        source.mkdir()
        shutil.copy(support.GOLDEN / "tiny_tied" / "config.json", source)
        weights = load_file(support.GOLDEN / "tiny_tied" / "model.safetensors")
        weights["lm_head.weight"] = weights["model.embed_tokens.weight"].clone()
        save_file(weights, source / "model.safetensors", metadata={"format": "pt"})
        before, after, model = self.train(source, "written-out")
        self.assertTrue(torch.equal(after["lm_head.weight"], after["model.embed_tokens.weight"]))
        self.assertFalse(torch.equal(before["lm_head.weight"], after["lm_head.weight"]))
        self.assertTrue(torch.equal(model.lm_head.weight, after["lm_head.weight"]))

    def test_untied(self):
        before, after, model = self.train(support.GOLDEN / "tiny_untied", "tiny_untied")
        for name in ("lm_head.weight", "model.embed_tokens.weight"):
            self.assertFalse(torch.equal(before[name], after[name]), name)
        self.assertFalse(torch.equal(after["lm_head.weight"], after["model.embed_tokens.weight"]))
        self.assertTrue(torch.equal(model.lm_head.weight, after["lm_head.weight"]))


class FromScratch(TransformersTest):
    """The demo in small: its model and tokenizer on some of its chats, from text to checkpoint."""

    def setUp(self):
        super().setUp()
        lines = (DATA / "chat-sample.jsonl").read_text().splitlines(keepends=True)
        chats = self.work / "chats.jsonl"
        chats.write_text("".join(lines[::4]))
        done = support.subprocess.run([
            sys.executable, "-B", support.ROOT / "tools" / "tokenize.py", chats, "--tokenizer", DATA / "tokenizer",
            "--out", self.work / "tokens", "--eval-out", self.work / "eval-tokens", "--eval-count", "10"
        ], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        for part in ("", "eval-"):
            support.run("qrun", "pack", self.work / f"{part}tokens", "--out", self.work / f"{part}packed", "--seq-len",
                        512, "--overflow", "split")

    def train(self, config, name):
        """A run of some steps that learns, its program and its checkpoint."""
        program = self.program_for(config, name, "--data", self.work / "packed")
        out = self.work / name
        support.run("qrun", "train", "--program", program, "--data", self.work / "packed", "--scratch", "--tokenizer",
                    DATA / "tokenizer", "--out", out, "--steps", 30, "--lr", 2e-3, "--warmup", 5, "--seed", 1)
        losses = [line["loss"] for line in support.metrics(out) if "loss" in line]
        self.assertLess(losses[-1], losses[0] - 0.5)
        self.assert_losses_agree(program, self.work / "eval-packed", out / "checkpoint", name)
        return out / "checkpoint"

    def test_tied(self):
        checkpoint = self.train(DATA / "demo", "scratch-tied")
        self.assertNotIn("lm_head.weight", stored(checkpoint))
        model = load_strictly(checkpoint)
        self.assertEqual(model.dtype, torch.float32)
        tokenizer = transformers.AutoTokenizer.from_pretrained(checkpoint)
        self.assertLessEqual(len(tokenizer), model.config.vocab_size)
        messages = [{"role": "user", "content": "How do I sort a list?"},
                    {"role": "assistant", "content": "With sorted()."}]
        theirs = transformers.AutoTokenizer.from_pretrained(DATA / "tokenizer").apply_chat_template(
            messages, tokenize=False)
        self.assertEqual(tokenizer.apply_chat_template(messages, tokenize=False), theirs)
        self.assertIn("<|im_start|>assistant\n", theirs)
        self.assertIn("With sorted().<|im_end|>", theirs)
        prompt = tokenizer.apply_chat_template(messages[:1], add_generation_prompt=True, return_tensors="pt",
                                               return_dict=True)
        text = tokenizer.apply_chat_template(messages[:1], add_generation_prompt=True, tokenize=False)
        self.assertEqual(tokenizer.decode(prompt["input_ids"][0]), text)
        self.assertIn(tokenizer.eos_token_id, model.generation_config.eos_token_id)
        answer = model.generate(**prompt, max_new_tokens=4, do_sample=False)
        self.assertGreater(answer.shape[1], prompt["input_ids"].shape[1])

    def test_untied(self):
        config = json.loads((DATA / "demo" / "config.json").read_text())
        config.update(tie_word_embeddings=False, hidden_size=64, intermediate_size=128)
        (self.work / "config.json").write_text(json.dumps(config))
        checkpoint = self.train(self.work / "config.json", "scratch-untied")
        weights = stored(checkpoint)
        self.assertFalse(torch.equal(weights["lm_head.weight"], weights["model.embed_tokens.weight"]))
        self.assertFalse(load_strictly(checkpoint).config.tie_word_embeddings)


class Demo(TransformersTest):
    """The checkpoint that tools/demo.sh left in demo/, on its held-out chats."""

    @unittest.skipUnless((DEMO / "run" / "checkpoint").exists(), "tools/demo.sh has not run here")
    def test_export(self):
        checkpoint, packed = DEMO / "run" / "checkpoint", DEMO / "eval-packed"
        self.assert_losses_agree(self.program_for(checkpoint, "demo", "--data", packed), packed, checkpoint, "demo")
        tokenizer = transformers.AutoTokenizer.from_pretrained(checkpoint)
        self.assertIn("<|im_start|>user\nHello",
                      tokenizer.apply_chat_template([{"role": "user", "content": "Hello"}], tokenize=False))


if __name__ == "__main__":
    unittest.main()
