"""What a newcomer does first: open the page that is being served, leave its opening, press Generate, wait until the run
is done.

    python .ci/first_generate.py ADDRESS SECONDS [NAME=VALUE]

ADDRESS with settings (`?max_new_tokens=32`) shows no opening. NAME=VALUE: a header that comes with each request, as a
host adds one. Exits with 1 and says what is on the screen if no token came, plain decoding was not measured, or the
page had an error.
"""

from __future__ import annotations

import shutil
import sys
import time

from playwright.sync_api import Error, Page, sync_playwright


def main(address: str, seconds: float, header: str = "") -> str:
    """Why it failed, or an empty text."""
    faults: list[str] = []
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        name, _, value = header.partition("=")
        headers = {"extra_http_headers": {name: value}} if name else {}
        page = browser.new_page(viewport={"width": 1440, "height": 900}, **headers)
        page.on("pageerror", lambda error: faults.append(f"script error: {error}"))
        _open(page, address, time.monotonic() + seconds)
        if "?" not in address:  # the opening comes first
            page.locator(".hx-story").get_by_role("button", name="Explore").click(timeout=30_000)
        page.wait_for_selector(".hx-text-body .hx-token, .hx-text-body [data-serial]", timeout=30_000)
        began = time.monotonic()
        page.get_by_role("button", name="Generate").click()
        page.wait_for_selector(".hx-go[data-state='busy']", timeout=30_000)
        page.wait_for_selector(".hx-go[data-state='idle']", timeout=1000 * seconds)
        said = page.locator(".hx-status").inner_text()
        plain = page.locator(".hx-headline-against").inner_text().partition("against ")[2]
        print(f"Generate was done after {time.monotonic() - began:.0f} s: {said!r}; plain decoding {plain!r}")
        if "done" not in said or not plain[:1].isdigit():
            faults.append(f"the run did not end as it should: {said!r}, plain decoding {plain!r}")
        browser.close()
    return "; ".join(faults)


def _open(page: Page, address: str, deadline: float) -> None:
    """Go to the page as soon as it is served."""
    while True:
        try:
            page.goto(address)
            return
        except Error:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.5)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], float(sys.argv[2]), *sys.argv[3:]) or None)
