from frugalmct.paper.looks import LOOKS, in_order, look_of


def test_methods_keep_their_look():
    assert look_of("frugalmct") is look_of("frugalmct_online")
    assert look_of("single:Google").name == "Google"
    assert look_of("mine").name == "mine"
    assert len({(look.color, look.line, look.marker) for look in LOOKS.values()}) == len(LOOKS)
    assert in_order(["mine", "dap", "frugalmct"]) == ["frugalmct", "dap", "mine"]
