"""Turns recorded answers of three services on COCO pictures into the JSON Lines that frugalmct reads.

    python examples/coco-tags/make_coco_tags.py FOLDER [--out DIRECTORY]

FOLDER is `code/chapter-8/data-nov-2019` of github.com/PracticalDL/Practical-Deep-Learning-Book (MIT licence):
what Google, Amazon and Microsoft answered in November 2019. Written are `coco-tags.jsonl`, the objects in
4,106 pictures, and `coco-text.jsonl`, the words in 2,752. Only Python's standard library is needed.
"""

import argparse
import json
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
EDGES = re.compile(r"^\W+|\W+$")

# Amazon's tags and all words come without a score: to have been given is all that is known of them.
NO_SCORE = 1.0

Answer = list[tuple[str, float]]


def pictures(path: Path) -> dict[str, Any]:
    """A file's entries by picture: keys are paths, file names or numbers."""
    entries = json.loads(path.read_text(encoding="utf-8"))
    return {str(int(re.sub(r"\.jpg$", "", key).rpartition("/")[2])): value for key, value in entries.items()}


def words_of_names(labels: Mapping[str, Iterable[str]]) -> dict[str, list[str]]:
    """For every word of a service the names of COCO that it stands for."""
    names: dict[str, list[str]] = {}
    for name, words in labels.items():
        for word in {name, *words}:
            names.setdefault(word, []).append(name)
    return names


def google_tags(entry: Any) -> Answer:
    return [(word, score) for word, score in entry or []]


def amazon_tags(entry: Any) -> Answer:
    return [(word, NO_SCORE) for word in entry or []]


def microsoft_tags(entry: Any) -> Answer:
    return [(tag["name"], tag["confidence"]) for tag in entry.get("tags", [])]


def google_words(entry: Any) -> Answer:
    """The first entry is the whole text, the others are its words."""
    return _words((entry or [])[1:])


def amazon_words(entry: Any) -> Answer:
    return _words([entry or ""])


def microsoft_words(entry: Any) -> Answer:
    return _words(line["text"] for line in json.loads(entry)["recognitionResult"]["lines"])


def _words(texts: Iterable[str]) -> Answer:
    """Single words in lower case, without the punctuation around them."""
    words = (EDGES.sub("", word).casefold() for text in texts for word in text.split())
    return [(word, NO_SCORE) for word in words if word]


def tag_items(folder: Path, labels: Mapping[str, Iterable[str]]) -> Iterator[dict[str, Any]]:
    """One item a picture, its tags as COCO's names; a name has its words' highest score."""
    names = words_of_names(labels)
    numbers = json.loads((folder / "clsid_name.json").read_text(encoding="utf-8"))

    def named(answer: Answer) -> Answer:
        scores: dict[str, float] = {}
        for word, score in answer:
            for name in names.get(word.lower(), []):
                scores[name] = max(scores.get(name, 0.0), score)
        return sorted(scores.items())

    readers = {
        "Google": ("google_tags.json", lambda entry: named(google_tags(entry))),
        "Amazon": ("amazon_tags.json", lambda entry: named(amazon_tags(entry))),
        "Microsoft": ("microsoft_tags_DESCRIPTION.json", lambda entry: named(microsoft_tags(entry))),
    }
    truth = pictures(folder / "final_gt_tags.json")
    objects = {picture: sorted({numbers[str(number)] for number in truth[picture]}) for picture in truth}
    return _items(folder, readers, objects)


def text_items(folder: Path) -> Iterator[dict[str, Any]]:
    """One item a picture, its words without scores."""
    readers = {
        "Google": ("google_ocr.json", google_words),
        "Amazon": ("amazon_ocr.json", amazon_words),
        "Microsoft": ("msft_ocr.json", microsoft_words),
    }
    truth = pictures(folder / "ground_truth.json")
    words = {picture: sorted({word for word, _ in _words(truth[picture])}) for picture in truth}
    return _items(folder, readers, words)


def _items(
    folder: Path, readers: Mapping[str, tuple[str, Callable[[Any], Answer]]], truth: Mapping[str, list[str]]
) -> Iterator[dict[str, Any]]:
    """The pictures that every service has answered, by number."""
    entries = {service: pictures(folder / name) for service, (name, _) in readers.items()}
    common = set(truth).intersection(*entries.values())
    for picture in sorted(common, key=int):
        answers = {
            service: sorted(set(read(entries[service][picture]))) for service, (_, read) in readers.items()
        }
        yield {"id": picture, "truth": truth[picture], "predictions": answers}


def coverage(folder: Path, labels: Mapping[str, Iterable[str]]) -> Iterator[str]:
    """How many words of each service have a name, and how many names have a word."""
    names = words_of_names(labels)
    readers = {
        "Google": ("google_tags.json", google_tags),
        "Amazon": ("amazon_tags.json", amazon_tags),
        "Microsoft": ("microsoft_tags_DESCRIPTION.json", microsoft_tags),
    }
    for service, (name, read) in readers.items():
        answers = [{word.lower() for word, _ in read(entry)} for entry in pictures(folder / name).values()]
        given = Counter(word for words in answers for word in words)
        mapped = {word: count for word, count in given.items() if word in names}
        reached = {name for word in mapped for name in names[word]}
        answered = sum(any(word in names for word in words) for words in answers)
        share = sum(mapped.values()) / given.total()
        yield (
            f"{service}: {len(mapped)} of its {len(given)} words ({share:.0%} of those given) mean one of "
            f"COCO's names; {len(reached)} of {len(labels)} names have a word; "
            f"{answered / len(answers):.0%} of the pictures have a name"
        )


def write(items: Iterable[dict[str, Any]], path: Path) -> None:
    lines = [json.dumps(item, ensure_ascii=False) + "\n" for item in items]
    path.write_text("".join(lines), encoding="utf-8")
    print(f"{path}: {len(lines)} items")


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("folder", type=Path, help="the folder data-nov-2019 of that repository")
    parser.add_argument(
        "--out", type=Path, default=HERE, help="where to write; beside this script if not given"
    )
    given = parser.parse_args(arguments)
    if not (given.folder / "final_gt_tags.json").is_file():
        print(f"{given.folder} has no final_gt_tags.json; name the folder data-nov-2019.", file=sys.stderr)
        return 1
    labels = json.loads((HERE / "labels.json").read_text(encoding="utf-8"))
    given.out.mkdir(parents=True, exist_ok=True)
    write(tag_items(given.folder, labels), given.out / "coco-tags.jsonl")
    print("\n".join(f"  {line}" for line in coverage(given.folder, labels)))
    write(text_items(given.folder), given.out / "coco-text.jsonl")
    return 0


if __name__ == "__main__":
    sys.exit(main())
