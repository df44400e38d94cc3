"""Byte-level BPE beside the tokenizers library: training, ids of fuzzed text, files that both read."""
import json
import random
import shutil
import subprocess

import pytest
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

SPECIAL = ["<|endoftext|>", "<|mask|>"]
WORDS = "the quick brown fox jumps over a lazy dog Über straße naïve 北京 東京 русский 123 4567 don't we'll it's".split()
SYLLABLES = "ba be bi bo du da de fa fi ga go ka ko la le li ma me mo na ne no pa po ra re ri sa se so ta te to".split()


def corpus(count, seed):
    source = random.Random(seed)

    def word():
        if source.random() < 0.4:
            return source.choice(WORDS)
        return "".join(source.choice(SYLLABLES) for _ in range(source.randrange(1, 5)))

    texts = ["".join(word() + source.choice([" ", " ", " ", "\n", ", ", "  ", "\t"]) for _ in range(source.randrange(1, 60)))
             for _ in range(count)]
    return [text for text in texts if text.strip()]


def fuzzed(count, seed, extra=()):
    """Texts of every kind of character: assigned or not, of the newest Unicode too."""
    source = random.Random(seed)
    ranges = [(0x20, 0x7F), (0x20, 0x7F), (0, 0x20), (0xA0, 0x250), (0x300, 0x370), (0x370, 0x400), (0x400, 0x500),
              (0x600, 0x700), (0x900, 0x980), (0x1100, 0x1200), (0x1C80, 0x1C90), (0x1E00, 0x2000), (0x2000, 0x2070),
              (0x2100, 0x2190), (0x3000, 0x3100), (0x4E00, 0x9FFF), (0xA7C0, 0xA800), (0xAC00, 0xD7A4), (0xF900, 0xFE10),
              (0xE000, 0xE010), (0xFF00, 0xFFF0), (0x10000, 0x11000), (0x11000, 0x12000), (0x16100, 0x16140),
              (0x1D400, 0x1D800), (0x1E900, 0x1E960), (0x1F300, 0x1F700), (0x2EBF0, 0x2EE5E), (0x31350, 0x323B0),
              (0x10000, 0x110000)]
    fixed = ["'s", "'ll", "'LL", "'\u017f", "don't", "   ", "\n\n", " \n", "\r\n", "\u00a0", "\u180e", "\u2028", "\u0085",
             "\u200d", "1234567", "e\u0301", "\u0130", "ΑΣ", "\u212b", "ﬁ", *extra]
    texts = []
    for _ in range(count):
        parts = []
        for _ in range(source.randrange(0, 20)):
            kind = source.randrange(10)
            if kind == 0:
                parts.append(source.choice(SPECIAL))
            elif kind < 3:
                parts.append(source.choice(fixed))
            elif kind == 3:
                parts.append(chr(source.randrange(0x20, 0x7F)) * source.randrange(1, 50))
            else:
                low, high = source.choice(ranges)
                parts.append("".join(chr(source.randrange(low, high)) for _ in range(source.randrange(1, 6))))
        texts.append("".join(parts))
    return texts


def train_reference(texts, vocab_size):
    reference = Tokenizer(models.BPE())
    reference.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    reference.decoder = decoders.ByteLevel()
    reference.train_from_iterator(texts, trainers.BpeTrainer(
        vocab_size=vocab_size, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), special_tokens=SPECIAL,
        show_progress=False))
    return reference


def train(megadlm, folder, texts, vocab_size):
    """The tokenizer.json that the program learns from the texts."""
    source = folder / "corpus.jsonl"
    source.write_text("".join(json.dumps({"text": text}, ensure_ascii=False) + "\n" for text in texts))
    megadlm("tokenizer", "train", "--input", source, "--json-keys", "text", "--vocab-size", vocab_size,
            "--output", folder / "out")
    return folder / "out/tokenizer.json"


def assert_same_model(path, reference):
    ours, theirs = json.loads(path.read_text())["model"], json.loads(reference.to_str())["model"]
    assert ours["vocab"] == theirs["vocab"]
    assert [list(merge) for merge in ours["merges"]] == [list(merge) for merge in theirs["merges"]]


def encode(megadlm, path, texts):
    lines = "".join(json.dumps(text) + "\n" for text in texts)
    output = megadlm("tokenizer", "encode", "--tokenizer-model", path, "--json", input=lines).stdout
    return [[int(word) for word in line.split()] for line in output.split("\n")[:-1]]


def assert_same_ids(megadlm, path, texts):
    """Compares the program and the library on one file."""
    theirs = Tokenizer.from_file(str(path))
    ours = encode(megadlm, path, texts)
    assert len(ours) == len(texts)
    for text, ids, expected in zip(texts, ours, theirs.encode_batch(texts, add_special_tokens=False)):
        assert ids == expected.ids, repr(text)


@pytest.fixture(scope="module")
def learned():
    """A tokenizer of the library, as the JSON of its file."""
    return train_reference(corpus(2000, 1), 900).to_str()


def changed(learned, folder, **parts):
    """The learned tokenizer with other parts, saved by the library."""
    tokenizer = Tokenizer.from_str(learned)
    for name, part in parts.items():
        setattr(tokenizer, name, part)
    path = folder / "tokenizer.json"
    tokenizer.save(str(path))
    return path


def test_training_gives_the_same_vocabulary_and_merges(tmp_path, megadlm):
    texts = corpus(2000, 1)
    assert_same_model(train(megadlm, tmp_path, texts, 900), train_reference(texts, 900))


@pytest.mark.parametrize("seed", range(12))
def test_training_breaks_ties_alike(tmp_path, megadlm, seed):
    # Few letters and many merges: counts tie all the time, and one token comes about in several ways.
    source = random.Random(seed)
    letters = source.choice(["ab", "aab", "abcdefgh é", "ab 's12", "aé€😀 b"])
    texts = ["x" + "".join(source.choice(letters) for _ in range(source.randrange(1, source.choice([8, 40, 200]))))
             for _ in range(source.choice([3, 30, 300]))]
    size = source.choice([270, 400, 1000, 3000])
    assert_same_model(train(megadlm, tmp_path, texts, size), train_reference(texts, size))


def test_training_on_a_book(tmp_path, megadlm):
    if shutil.which("bible") is None:
        pytest.skip("the package bible-kjv is not installed")
    text = subprocess.run(["bible", "-f", "gen1:1-rev22:21"], capture_output=True, text=True, check=True).stdout
    texts = [line for line in text.split("\n") if line.strip()]
    path = train(megadlm, tmp_path, texts, 4096)
    assert_same_model(path, train_reference(texts, 4096))
    assert_same_ids(megadlm, path, texts[::10])


def test_ids_of_fuzzed_text_are_equal(tmp_path, megadlm):
    path = train(megadlm, tmp_path, corpus(2000, 1), 900)
    assert_same_ids(megadlm, path, fuzzed(20000, 2) + corpus(200, 3))


def test_decoding_is_the_inverse(tmp_path, megadlm, learned):
    path = changed(learned, tmp_path)
    texts = [text for text in fuzzed(500, 4) if text]
    lines = "".join(" ".join(map(str, ids)) + "\n" for ids in encode(megadlm, path, texts))
    output = megadlm("tokenizer", "decode", "--tokenizer-model", path, "--json", input=lines).stdout
    assert [json.loads(line) for line in output.split("\n")[:-1]] == texts


def test_any_ids_decode_alike(tmp_path, megadlm, learned):
    # Ids at random: bytes that are no UTF-8 become replacement characters in the same way.
    path = changed(learned, tmp_path)
    source = random.Random(6)
    reference = Tokenizer.from_str(learned)
    rows = [[source.randrange(reference.get_vocab_size()) for _ in range(source.randrange(1, 30))] for _ in range(3000)]
    lines = "".join(" ".join(map(str, row)) + "\n" for row in rows)
    output = megadlm("tokenizer", "decode", "--tokenizer-model", path, "--json", input=lines).stdout
    theirs = reference.decode_batch(rows, skip_special_tokens=False)
    assert [json.loads(line) for line in output.split("\n")[:-1]] == theirs


PATTERNS = {
    "gpt2": r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
    "llama3": r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+"
              r"|\s+(?!\S)|\s+",
    "gpt4o": r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
             r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
             r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    "deepseek": r"[!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+"
                r"| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    "han": r"[一-龥぀-ゟ゠-ヿ]+",
    "thousands": r"(?=(\d{3})+(?!\d))",
    "lines": r"^\s|$",
    "not letters": r"\P{L}+\u00a0?",
}


@pytest.mark.parametrize("name", PATTERNS)
def test_split_patterns(tmp_path, megadlm, learned, name):
    path = changed(learned, tmp_path, pre_tokenizer=pre_tokenizers.Sequence([
        pre_tokenizers.Split(Regex(PATTERNS[name]), "isolated"),
        pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)]))
    assert_same_ids(megadlm, path, fuzzed(3000, 5))


@pytest.mark.parametrize("behavior", ["isolated", "removed", "merged_with_previous", "merged_with_next", "contiguous"])
@pytest.mark.parametrize("pattern", ["e", Regex(r"[a-m]"), Regex(r"\s*")])
@pytest.mark.parametrize("invert", [False, True])
def test_split_behaviors(tmp_path, megadlm, learned, behavior, pattern, invert):
    path = changed(learned, tmp_path, pre_tokenizer=pre_tokenizers.Sequence([
        pre_tokenizers.Split(pattern, behavior, invert), pre_tokenizers.ByteLevel(add_prefix_space=True, use_regex=False)]))
    assert_same_ids(megadlm, path, fuzzed(300, 6) + corpus(100, 7))


@pytest.mark.parametrize("individual", [False, True])
def test_digits_before_words(tmp_path, megadlm, learned, individual):
    path = changed(learned, tmp_path, pre_tokenizer=pre_tokenizers.Sequence([
        pre_tokenizers.Digits(individual), pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)]))
    digits = [chr(point) for point in (0xB2, 0x2160, 0x660, 0x4E00, 0x11DE3, 0x16FF5, 0x1CCF3, 0x2460)]
    assert_same_ids(megadlm, path, fuzzed(3000, 8, digits))


def test_a_space_before_the_first_word(tmp_path, megadlm, learned):
    path = changed(learned, tmp_path, pre_tokenizer=pre_tokenizers.ByteLevel(add_prefix_space=True, use_regex=True))
    assert_same_ids(megadlm, path, fuzzed(3000, 9))


@pytest.mark.parametrize("name", ["NFC", "NFD", "NFKC", "NFKD", "Lowercase", "NFKC+Lowercase"])
def test_normalizers(tmp_path, megadlm, learned, name):
    parts = [getattr(normalizers, part)() for part in name.split("+")]
    path = changed(learned, tmp_path, normalizer=normalizers.Sequence(parts) if len(parts) > 1 else parts[0])
    assert_same_ids(megadlm, path, fuzzed(3000, 10))


@pytest.mark.parametrize("normalizer", [None, normalizers.Lowercase(), normalizers.NFKC()])
def test_added_tokens(tmp_path, megadlm, learned, normalizer):
    tokenizer = Tokenizer.from_str(learned)
    if normalizer is not None:
        tokenizer.normalizer = normalizer
    contents = ["<a>", "<a><b>", "cat", "Cat's", "ﬁ", "  ", "the", "<é>", "b", "bc", "abc d"]
    source = random.Random(11)
    for content in contents:
        blank = not content.strip()  # white space that takes white space with it makes the library panic
        token = AddedToken(content, single_word=source.random() < 0.3, lstrip=not blank and source.random() < 0.4,
                           rstrip=not blank and source.random() < 0.4, normalized=source.random() < 0.5)
        if source.random() < 0.3:
            tokenizer.add_special_tokens([token])
        else:
            tokenizer.add_tokens([token])
    path = tmp_path / "tokenizer.json"
    tokenizer.save(str(path))
    assert_same_ids(megadlm, path, fuzzed(5000, 12, contents + ["<A>", "CAT", "fi", "THE", "\U00011f05cat", "cat\u0301"]))


@pytest.mark.parametrize("fuse", [False, True])
def test_characters_without_bytes(tmp_path, megadlm, fuse):
    vocabulary = {piece: number for number, piece in enumerate(["?", "a", "b", "ab", "aba", "é", "??", "abb"])}
    merges = [("a", "b"), ("ab", "a"), ("?", "?"), ("ab", "b")]
    path = tmp_path / "tokenizer.json"
    Tokenizer(models.BPE(vocabulary, merges, unk_token="?", fuse_unk=fuse)).save(str(path))
    source = random.Random(13)
    assert_same_ids(megadlm, path, ["".join(source.choice("abéxy😀") for _ in range(source.randrange(60))) for _ in range(2000)])


def test_whole_pieces_before_merges(tmp_path, megadlm, learned):
    file = json.loads(learned)
    file["model"]["ignore_merges"] = True
    file["model"]["vocab"].update({"Ġjumpsover": 900, "xyz": 901})
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(file))
    assert_same_ids(megadlm, path, fuzzed(2000, 14, ["xyz", " jumpsover", "xyzz"]))


def test_legacy_merges(tmp_path, megadlm, learned):
    file = json.loads(learned)
    file["model"]["merges"] = ["#version: 0.2"] + [" ".join(merge) for merge in file["model"]["merges"]]
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(file))
    assert_same_ids(megadlm, path, corpus(300, 15))
