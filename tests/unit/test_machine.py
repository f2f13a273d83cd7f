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


@pytest.mark.parametrize(
    ("text", "cores"), [("max 100000", None), ("200000 100000", 2), ("150000 100000", 2), ("", None)]
)
def test_a_container_has_the_cores_whose_time_it_is_given(tmp_path, text, cores):
    assert machine.cores_given(tmp_path) is None
    (tmp_path / "cpu.max").write_text(f"{text}\n", encoding="ascii")
    assert machine.cores_given(tmp_path) == cores


def test_a_pass_has_no_more_threads_than_its_container_has_cores(monkeypatch):
    threads = pytest.importorskip("hsd_core.models.threads")
    for given, most in ((1, 1), (None, 4), (64, 4)):
        monkeypatch.setattr(threads, "cores_given", lambda given=given: given)
        monkeypatch.setattr(threads.torch, "get_num_threads", lambda: 4)
        assert threads.model_threads.__wrapped__() == most


def test_a_card_that_is_lent_needs_no_driver_in_the_page_s_process(monkeypatch):
    monkeypatch.setattr(machine, "versions", lambda: {"torch": "2.11.0"})
    monkeypatch.setattr(machine.shutil, "which", lambda name: None)
    monkeypatch.setenv("SPACES_ZERO_GPU", "true")
    assert machine.has_cuda.__wrapped__()
