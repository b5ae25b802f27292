#!/usr/bin/python3
# SPDX-License-Identifier: BSL-1.0
"""Opens every page of a site that build.py made in a headless browser, 1280 and 400 pixels wide, in the light and the
dark scheme of colours. Says which pages are wider than the window, what is cut off outside of a box that scrolls, and
which text has less contrast than 4.5 to 1. Exits with 77 where Debian's chromium-driver or python3-selenium is
missing."""

import argparse
import base64
import pathlib
import shutil
import sys

try:
    from selenium import webdriver
    from selenium.webdriver.chrome.options import Options
    from selenium.webdriver.chrome.service import Service
except ImportError:
    webdriver = None

WIDTHS = [1280, 400]
SCHEMES = ["light", "dark"]
SKIPPED = 77

LOOK = """
const found = [];
const page = document.documentElement;
if (page.scrollWidth > page.clientWidth) found.push(`is ${page.scrollWidth} pixels wide, of ${page.clientWidth}`);

const scrolls = element => /auto|scroll/.test(getComputedStyle(element).overflowX);
const name = element => element.tagName.toLowerCase() + (element.id ? '#' + element.id : '') + ' "' +
    element.textContent.trim().slice(0, 30) + '"';
const within = element => {
  for (let box = element.parentElement; box; box = box.parentElement) if (scrolls(box)) return true;
  return false;
};
const channels = text => text.match(/[\\d.]+/g).map(Number);
const luminance = ([r, g, b]) => [r, g, b].map(c => c / 255)
    .map(c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
    .reduce((sum, c, index) => sum + c * [0.2126, 0.7152, 0.0722][index], 0);
const behind = element => {
  for (let box = element; box; box = box.parentElement) {
    const colour = channels(getComputedStyle(box).backgroundColor);
    if (colour.length < 4 || colour[3] > 0) return colour;
  }
  return [255, 255, 255];
};
const seen = new Set();
for (const element of document.body.querySelectorAll('*')) {
  const style = getComputedStyle(element), box = element.getBoundingClientRect();
  if (style.visibility != 'visible' || style.opacity == 0 || !box.width || !box.height) continue;
  if (element.closest('svg')) continue;
  const text = [...element.childNodes].some(node => node.nodeType == 3 && node.data.trim());
  if (!text && element.tagName != 'IMG') continue;
  if (element.matches('.skip')) continue;
  if ((box.right > innerWidth + 1 || box.left < -1) && !within(element) && !scrolls(element))
    found.push(`cuts off ${name(element)}, from ${Math.round(box.left)} to ${Math.round(box.right)}`);
  if (/hidden|clip/.test(style.overflowX) && element.scrollWidth > element.clientWidth + 1)
    found.push(`hides a part of ${name(element)}`);
  if (element.tagName == 'IMG' && !element.naturalWidth) found.push(`has no picture ${element.src}`);
  const back = behind(element), pair = style.color + back;
  if (seen.has(pair)) continue;
  seen.add(pair);
  const [less, more] = [luminance(channels(style.color)), luminance(back)].sort((a, b) => a - b);
  const contrast = (more + 0.05) / (less + 0.05);
  if (contrast < 4.5) found.push(`has ${name(element)} with a contrast of ${contrast.toFixed(2)}`);
}
return found;
"""


def browser():
    options = Options()
    options.binary_location = shutil.which("chromium")
    for argument in ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                     "--allow-file-access-from-files"]:
        options.add_argument(argument)
    return webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))


def see_as(driver, width, scheme):
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                           {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": False})
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia",
                           {"features": [{"name": "prefers-color-scheme", "value": scheme}]})


def look(driver, site, pages, pictures):
    for number, page in enumerate(pages):
        if number % 50 == 0:
            print(f"{number} of {len(pages)} pages", file=sys.stderr, flush=True)
        driver.get(page.as_uri())
        name = page.relative_to(site)
        for width in WIDTHS:
            for scheme in SCHEMES:
                see_as(driver, width, scheme)
                for complaint in driver.execute_script(LOOK):
                    yield f"{name}, {width} pixels, {scheme}: {complaint}"
                if pictures:
                    picture = driver.execute_cdp_cmd("Page.captureScreenshot", {"captureBeyondViewport": True})
                    file = pictures / f"{str(name).replace('/', '-')}-{width}-{scheme}.png"
                    file.write_bytes(base64.b64decode(picture["data"]))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("site", type=pathlib.Path, help="the folder of the site")
    parser.add_argument("pages", nargs="*", help="pages to look at, by name (default: all)")
    parser.add_argument("--pictures", type=pathlib.Path, metavar="FOLDER", help="where to keep pictures of whole pages")
    options = parser.parse_args()
    site = options.site.resolve()
    if webdriver is None or not shutil.which("chromium") or not shutil.which("chromedriver"):
        print("looks: chromium, chromium-driver and python3-selenium are needed", file=sys.stderr)
        return SKIPPED
    pages = [site / name for name in options.pages] or sorted(site.rglob("*.html"))
    if missing := [page for page in pages if not page.is_file()] or ([site] if not pages else []):
        print(f"looks: there is no {missing[0]}", file=sys.stderr)
        return 1
    if options.pictures:
        options.pictures.mkdir(parents=True, exist_ok=True)
    driver = browser()
    try:
        complaints = list(look(driver, site, pages, options.pictures))
    finally:
        driver.quit()
    print("\n".join(complaints) or f"{len(pages)} pages look right")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
