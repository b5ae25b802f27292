// SPDX-License-Identifier: BSL-1.0
/// An interpreter for vectors that branches its state. A variable holds a storage of doubles.
/// `branch` keeps the state: it clones each storage lazily, so that it costs the same for vectors
/// of any size. `undo` returns to the state of the latest branch, `keep` drops that state. With
/// --trace, each copy is reported with the line of the script that caused it.
///
/// usage: interpreter [--trace] [SCRIPT]    (standard input without SCRIPT)
#include <byre/byre.h>

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_VARIABLES = 32, MOST_BRANCHES = 64, NAME_SIZE = 16, LINE_SIZE = 256, MOST_WORDS = 4 };
#define MOST_ELEMENTS 100000000.0

static const char help[] =
    "usage: interpreter [--trace] [SCRIPT]\n"
    "\n"
    "Runs SCRIPT, or standard input. --trace reports each copy of a vector. A line is one of\n"
    "  new A N      A is a vector of N zeros\n"
    "  copy A B     A is a copy of B: nothing is copied until either is written\n"
    "  alias A B    A is another name of B\n"
    "  set A I X    A[I] = X\n"
    "  add A B      A += B\n"
    "  scale A X    A *= X\n"
    "  print A I    print A[I]\n"
    "  sum A        print the sum of A\n"
    "  branch       keep the state of all variables\n"
    "  undo         return to the state of the latest branch, and forget it\n"
    "  keep         forget the latest branch, and continue\n"
    "  stats        print the number of bytes copied so far\n"
    "  # a comment\n";

typedef struct Variable {
  char name[NAME_SIZE];
  byre_storage* storage;
} Variable;

typedef struct State {
  Variable variables[MOST_VARIABLES];
  size_t count;
} State;

typedef struct Interpreter {
  State now;
  State branches[MOST_BRANCHES];
  size_t branch_count;
  const char* script;
  uint32_t line;
} Interpreter;

static Interpreter interpreter;  // zeros: no variables

static void fail(const char* format, ...) {
  va_list arguments;
  fprintf(stderr, "%s:%u: ", interpreter.script, (unsigned)interpreter.line);
  va_start(arguments, format);
  vfprintf(stderr, format, arguments);
  va_end(arguments);
  fputc('\n', stderr);
  exit(1);
}

static void expect_ok(byre_status status) {
  if (status != BYRE_OK) {
    fail("%s", byre_last_error());
  }
}

// ---- Vectors

static size_t length_of(const Variable* variable) {
  return byre_storage_nbytes(variable->storage) / sizeof(double);
}

static const double* elements_of(const Variable* variable) {
  return (const double*)byre_storage_data(variable->storage);
}

static double* mutable_elements_of(const Variable* variable) {
  void* data;
  expect_ok(byre_storage_mutable_data(variable->storage, BYRE_WAIT_ALLOWED, &data));
  return (double*)data;
}

static Variable* find(const char* name) {
  for (size_t i = 0; i < interpreter.now.count; ++i) {
    if (strcmp(interpreter.now.variables[i].name, name) == 0) {
      return &interpreter.now.variables[i];
    }
  }
  return NULL;
}

static Variable* expect_variable(const char* name) {
  Variable* const found = find(name);
  if (found == NULL) {
    fail("unknown variable '%s'. Create it first: new %s 10", name, name);
  }
  return found;
}

/// Makes `name` refer to a storage, whose handle it takes over.
static void assign(const char* name, byre_storage* storage) {
  Variable* variable = find(name);
  if (variable == NULL) {
    if (interpreter.now.count == MOST_VARIABLES) {
      fail("too many variables: at most %d. Use another name again.", MOST_VARIABLES);
    }
    if (strlen(name) >= NAME_SIZE) {
      fail("the name '%s' is too long: at most %d characters. Shorten it.", name, NAME_SIZE - 1);
    }
    variable = &interpreter.now.variables[interpreter.now.count++];
    strcpy(variable->name, name);
    variable->storage = NULL;
  }
  byre_storage_release(variable->storage);
  variable->storage = storage;
}

static double number_of(const char* text) {
  char* end;
  const double number = strtod(text, &end);
  if (end == text || *end != '\0') {
    fail("'%s' is not a number. Write one such as 2.5", text);
  }
  return number;
}

static size_t index_of(const char* text, const Variable* variable) {
  const double number = number_of(text);
  if (!(number >= 0) || !(number < (double)length_of(variable)) ||
      number != (double)(size_t)number) {
    fail("index %s is out of range: %s has %zu elements, numbered from 0. Pass a smaller one.",
         text, variable->name, length_of(variable));
  }
  return (size_t)number;
}

// ---- Branches

static void release_state(State* state) {
  for (size_t i = 0; i < state->count; ++i) {
    byre_storage_release(state->variables[i].storage);
  }
  state->count = 0;
}

/// Makes `to` a state of lazy clones. Names that alias in `from` alias in `to`.
static void clone_state(const State* from, State* to) {
  *to = *from;
  for (size_t i = 0; i < from->count; ++i) {
    size_t first = 0;
    while (from->variables[first].storage != from->variables[i].storage) {
      ++first;
    }
    if (first < i) {
      to->variables[i].storage = byre_storage_retain(to->variables[first].storage);
    } else {
      expect_ok(byre_storage_clone(from->variables[i].storage, &to->variables[i].storage));
    }
  }
}

static State* expect_branch(void) {
  if (interpreter.branch_count == 0) {
    fail("no branch is left. Write the line `branch` first.");
  }
  return &interpreter.branches[--interpreter.branch_count];
}

// ---- Statements

static void run_new(char** words) {
  const double count = number_of(words[2]);
  byre_storage* storage;
  if (!(count >= 1) || count > MOST_ELEMENTS || count != (double)(size_t)count) {
    fail("a vector has 1 to %.0f elements, not %s.", MOST_ELEMENTS, words[2]);
  }
  expect_ok(byre_storage_allocate((size_t)count * sizeof(double), NULL, &storage));
  assign(words[1], storage);
  memset(mutable_elements_of(find(words[1])), 0, (size_t)count * sizeof(double));
}

static void run_copy(char** words) {
  byre_storage* storage;
  expect_ok(byre_storage_clone(expect_variable(words[2])->storage, &storage));
  assign(words[1], storage);
}

static void run_alias(char** words) {
  assign(words[1], byre_storage_retain(expect_variable(words[2])->storage));
}

static void run_set(char** words) {
  const Variable* const variable = expect_variable(words[1]);
  const size_t index = index_of(words[2], variable);
  const double value = number_of(words[3]);
  mutable_elements_of(variable)[index] = value;
}

static void run_add(char** words) {
  const Variable *const to = expect_variable(words[1]), *const from = expect_variable(words[2]);
  if (length_of(to) != length_of(from)) {
    fail("cannot add: %s has %zu elements and %s has %zu. Use vectors of equal length.", to->name,
         length_of(to), from->name, length_of(from));
  }
  double* const elements = mutable_elements_of(to);  // before the read: it may move the elements
  const double* const added = elements_of(from);
  for (size_t i = 0; i < length_of(to); ++i) {
    elements[i] += added[i];
  }
}

static void run_scale(char** words) {
  const Variable* const variable = expect_variable(words[1]);
  const double factor = number_of(words[2]);
  double* const elements = mutable_elements_of(variable);
  for (size_t i = 0; i < length_of(variable); ++i) {
    elements[i] *= factor;
  }
}

static void run_print(char** words) {
  const Variable* const variable = expect_variable(words[1]);
  printf("%s[%s] = %g\n", words[1], words[2], elements_of(variable)[index_of(words[2], variable)]);
}

static void run_sum(char** words) {
  const Variable* const variable = expect_variable(words[1]);
  const double* const elements = elements_of(variable);
  double sum = 0;
  for (size_t i = 0; i < length_of(variable); ++i) {
    sum += elements[i];
  }
  printf("sum of %s = %g\n", words[1], sum);
}

static void run_branch(char** words) {
  (void)words;
  if (interpreter.branch_count == MOST_BRANCHES) {
    fail("too many branches: at most %d. Write `undo` or `keep` first.", MOST_BRANCHES);
  }
  clone_state(&interpreter.now, &interpreter.branches[interpreter.branch_count++]);
}

static void run_undo(char** words) {
  (void)words;
  State* const branch = expect_branch();
  release_state(&interpreter.now);
  interpreter.now = *branch;  // takes over the handles
}

static void run_keep(char** words) {
  (void)words;
  release_state(expect_branch());
}

static void run_stats(char** words) {
  byre_stats stats;
  (void)words;
  stats.struct_nbytes = sizeof stats;
  expect_ok(byre_stats_snapshot(&stats));
  printf("%lld bytes copied\n", (long long)stats.bytes_copied);
}

static const struct Statement {
  const char* name;
  size_t word_count;
  void (*run)(char** words);
} statements[] = {
    {"new", 3, run_new},     {"copy", 3, run_copy}, {"alias", 3, run_alias},
    {"set", 4, run_set},     {"add", 3, run_add},   {"scale", 3, run_scale},
    {"print", 3, run_print}, {"sum", 2, run_sum},   {"branch", 1, run_branch},
    {"undo", 1, run_undo},   {"keep", 1, run_keep}, {"stats", 1, run_stats},
};

static void run_line(char* line) {
  char* words[MOST_WORDS + 1];
  size_t count = 0;
  for (char* word = strtok(line, " \t\r\n"); word != NULL && count <= MOST_WORDS;
       word = strtok(NULL, " \t\r\n")) {
    words[count++] = word;
  }
  if (count == 0 || words[0][0] == '#') {
    return;
  }
  for (size_t i = 0; i < sizeof statements / sizeof *statements; ++i) {
    if (strcmp(words[0], statements[i].name) == 0) {
      if (count != statements[i].word_count) {
        fail("%s takes %zu words after its name. See --help.", words[0],
             statements[i].word_count - 1);
      }
      byre_set_call_site(interpreter.script, interpreter.line);
      statements[i].run(words);
      return;
    }
  }
  fail("unknown statement '%s'. See --help.", words[0]);
}

static void print_copy(void* user, const byre_copy_event* event) {
  (void)user;
  printf("%s:%u: copied %zu bytes (%s)\n", event->file, (unsigned)event->line, event->nbytes,
         byre_copy_cause_name(event->cause));
}

int main(int argc, char** argv) {
  char line[LINE_SIZE];
  FILE* input = stdin;
  byre_installed_sink* sink = NULL;
  interpreter.script = "<stdin>";
  for (int i = 1; i < argc; ++i) {
    if (strcmp(argv[i], "--help") == 0) {
      fputs(help, stdout);
      return 0;
    }
    if (strcmp(argv[i], "--trace") == 0 && sink == NULL) {
      expect_ok(byre_copy_sink_install(print_copy, NULL, &sink));
    } else if (argv[i][0] == '-' || input != stdin) {
      fprintf(stderr, "interpreter: unknown argument '%s'.\n%s", argv[i], help);
      return 2;
    } else {
      interpreter.script = argv[i];
      input = fopen(argv[i], "r");
      if (input == NULL) {
        fprintf(stderr, "interpreter: cannot read %s: %s.\n", argv[i], strerror(errno));
        return 1;
      }
    }
  }
  while (fgets(line, sizeof line, input) != NULL) {
    ++interpreter.line;
    if (strchr(line, '\n') == NULL && !feof(input)) {
      fail("the line is too long: at most %d characters. Split it.", LINE_SIZE - 2);
    }
    run_line(line);
  }
  if (ferror(input)) {
    fail("cannot read the next line: %s.", strerror(errno));
  }
  if (input != stdin) {
    fclose(input);
  }
  while (interpreter.branch_count != 0) {
    release_state(expect_branch());
  }
  release_state(&interpreter.now);
  byre_copy_sink_remove(sink);
  return 0;
}
