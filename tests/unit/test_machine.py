"""What a machine is called: a name that tells processors apart whose passes take other times."""

import pytest

from hsd_core.models import machine

INFO = """processor\t: 0
model name\t: AMD EPYC
flags\t\t: fpu avx2 {more}

processor\t: 1
model name\t: AMD EPYC
flags\t\t: fpu avx2 {more}
"""


@pytest.mark.parametrize(("more", "name"), [("avx512f avx512bw", "AMD EPYC with AVX-512"), ("fma", "AMD EPYC")])
def test_the_name_says_what_a_virtual_processor_leaves_out(tmp_path, more, name):
    info = tmp_path / "cpuinfo"
    info.write_text(INFO.format(more=more), encoding="utf-8")
    assert machine._processor(info) == name


def test_a_system_that_tells_nothing_still_has_a_name(tmp_path):
    assert machine._processor(tmp_path / "none")
    (tmp_path / "other").write_text("a line without a name\n", encoding="utf-8")
    assert machine._processor(tmp_path / "other")
