// SPDX-License-Identifier: BSL-1.0
/// Keeps versions of a document: each version is a lazy clone, in tiles, of the one before it, and
/// shares all tiles that were not written since. Prints how many bytes the versions share.
///
/// usage: versions [--versions N] [--kibibytes N]
#include <byre/byre.h>

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_VERSIONS = 1000, MOST_KIBIBYTES = 1 << 20 };

static const char usage[] =
    "usage: versions [--versions N] [--kibibytes N]\n"
    "  --versions N   number of versions to make, from 1 to 1000 (default: 20)\n"
    "  --kibibytes N  size of the document, from 64 to 1048576 (default: 16384)\n";

/// Ends the program if a call of byre failed.
static void expect_ok(byre_status status) {
  if (status != BYRE_OK) {
    fprintf(stderr, "versions: %s\n", byre_last_error());
    exit(1);
  }
}

static size_t number_of(const char* option, const char* text, long least, long most) {
  char* end = NULL;
  errno = 0;
  const long number = text == NULL ? 0 : strtol(text, &end, 10);
  if (text == NULL || end == text || *end != '\0' || errno != 0 || number < least ||
      number > most) {
    fprintf(stderr, "versions: %s takes a whole number from %ld to %ld, not '%s'.\n", option, least,
            most, text == NULL ? "" : text);
    exit(2);
  }
  return (size_t)number;
}

/// Counts the tiles that a version does not share with the one before it.
static byre_status count_difference(void* user, size_t index) {
  (void)index;
  ++*(size_t*)user;
  return BYRE_OK;
}

int main(int argc, char** argv) {
  static byre_tiles versions[MOST_VERSIONS + 1];  // zeros: empty values
  size_t version_count = 20, nbytes = (size_t)16384 << 10, different = 0;
  for (int i = 1; i < argc; ++i) {
    if (strcmp(argv[i], "--help") == 0) {
      fputs(usage, stdout);
      return 0;
    }
    if (strcmp(argv[i], "--versions") == 0) {
      version_count = number_of(argv[i], argv[i + 1], 1, MOST_VERSIONS);
      ++i;
    } else if (strcmp(argv[i], "--kibibytes") == 0) {
      nbytes = number_of(argv[i], argv[i + 1], 64, MOST_KIBIBYTES) << 10;
      ++i;
    } else {
      fprintf(stderr, "versions: unknown argument '%s'.\n%s", argv[i], usage);
      return 2;
    }
  }

  expect_ok(byre_tiles_allocate(nbytes, BYRE_DEFAULT_TILE_NBYTES, NULL, &versions[0]));
  for (size_t tile = 0; tile < byre_tiles_tile_count(&versions[0]); ++tile) {
    void* data;
    size_t tile_nbytes;
    expect_ok(byre_tiles_mutable_tile(&versions[0], tile, BYRE_WAIT_ALLOWED, &data, &tile_nbytes));
    memset(data, '.', tile_nbytes);
  }
  for (size_t i = 1; i <= version_count; ++i) {
    char line[32];
    const int length = snprintf(line, sizeof line, "[version %zu]", i);
    expect_ok(byre_tiles_clone(&versions[i - 1], &versions[i]));
    expect_ok(byre_tiles_write(&versions[i], i * 4099 % (nbytes - 32), line, (size_t)length,
                               BYRE_WAIT_ALLOWED));
    expect_ok(byre_tiles_for_each_difference(&versions[i - 1], &versions[i], count_difference,
                                             &different));
  }

  // Each version reads what was written into it, and none of the later lines.
  for (size_t i = 1; i <= version_count; ++i) {
    char expected[32], line[32] = {0}, before[32] = {0};
    const int length = snprintf(expected, sizeof expected, "[version %zu]", i);
    const size_t offset = i * 4099 % (nbytes - 32);
    expect_ok(byre_tiles_read(&versions[i], offset, line, (size_t)length));
    expect_ok(byre_tiles_read(&versions[i - 1], offset, before, (size_t)length));
    if (strcmp(line, expected) != 0 || strcmp(before, expected) == 0) {
      fprintf(stderr, "versions: version %zu reads '%s', expected '%s'.\n", i, line, expected);
      return 1;
    }
  }
  const size_t whole = version_count * nbytes, copied = different * BYRE_DEFAULT_TILE_NBYTES;
  printf("%zu versions of %zu KiB: %zu KiB copied, %zu KiB shared\n", version_count, nbytes >> 10,
         copied >> 10, (whole - copied) >> 10);
  for (size_t i = 0; i <= version_count; ++i) {
    byre_tiles_release(&versions[i]);
  }
  return 0;
}
