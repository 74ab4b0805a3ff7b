"""Where the groups of a workflow stand in its picture."""

from itertools import pairwise

from workflows.drawing import HEIGHT, WIDTH, draw


def test_groups_stand_to_the_right_of_all_that_they_wait_for_and_do_not_overlap() -> None:
    upstream = {
        "data": [],
        "other": [],
        "left": ["data"],
        "right": ["data", "other"],
        "report": ["left", "other"],
    }
    drawing = draw(upstream)
    boxes = {box.name: box for box in drawing.boxes}
    for name, starts in upstream.items():
        assert all(boxes[start].x + WIDTH < boxes[name].x for start in starts)
    places = sorted((box.x, box.y) for box in drawing.boxes)
    for (x, y), (next_x, next_y) in pairwise(places):
        assert x != next_x or next_y >= y + HEIGHT
    assert all(x >= 0 and x + WIDTH <= drawing.width for x, _ in places)
    assert all(y >= 0 and y + HEIGHT <= drawing.height for _, y in places)
    pairs = {(arrow.start, arrow.end) for arrow in drawing.arrows}
    assert pairs == {(start, end) for end, starts in upstream.items() for start in starts}


def test_groups_stand_near_what_they_wait_for() -> None:
    drawing = draw({"a": [], "b": [], "after-b": ["b"], "after-a": ["a"]})
    rows = {box.name: box.y for box in drawing.boxes}
    assert rows["after-a"] == rows["a"]
    assert rows["after-b"] == rows["b"]


def test_two_hundred_groups_are_drawn() -> None:
    names = [f"group-{number}" for number in range(200)]
    drawing = draw({name: names[max(0, number - 2) : number] for number, name in enumerate(names)})
    assert len(drawing.boxes) == 200
