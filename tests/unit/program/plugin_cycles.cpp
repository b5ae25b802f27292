// SPDX-License-Identifier: BSL-1.0
// plugin_cycles PLUGIN: repeatedly loads, uses and unloads a plugin that links byre statically.
// Each cycle must unload the plugin completely and leave no memory behind. Threads that used the
// plugin must be able to end afterwards. Forks must work, even a fork in progress during the
// unloading.
#include <dlfcn.h>
#include <malloc.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <thread>

namespace {

const char* plugin;

void expect(bool holds, const char* what) {
  if (!holds) {
    std::fprintf(stderr, "%s\n", what);
    std::exit(1);
  }
}

void* load() {
  void* const loaded = ::dlopen(plugin, RTLD_NOW | RTLD_LOCAL);
  expect(loaded != nullptr, ::dlerror());
  return loaded;
}

void use(void* loaded) {
  auto* const use_byre = reinterpret_cast<int (*)()>(::dlsym(loaded, "use_byre"));
  expect(use_byre != nullptr && use_byre() == 0, "the plugin does not work");
}

void unload(void* loaded) {
  expect(::dlclose(loaded) == 0, "the plugin cannot be unloaded");
  expect(::dlopen(plugin, RTLD_NOW | RTLD_NOLOAD) == nullptr, "the plugin is still loaded");
}

void cycle() {
  void* const loaded = load();
  use(loaded);
  unload(loaded);
}

/// The size of the address space, in pages.
long mapped_pages() {
  long pages = 0;
  std::FILE* const file = std::fopen("/proc/self/statm", "r");
  expect(file != nullptr && std::fscanf(file, "%ld", &pages) == 1, "cannot read /proc/self/statm");
  std::fclose(file);
  return pages;
}

long heap_nbytes() {
  return static_cast<long>(::mallinfo2().uordblks);
}

void fork_and_expect(void (*child)()) {
  const pid_t forked = ::fork();
  if (forked == 0) {
    child();
    ::_exit(0);
  }
  int status = -1;
  expect(::waitpid(forked, &status, 0) == forked && status == 0, "a child of a fork does not work");
}

/// Whether the thread is blocked.
bool sleeps(pid_t thread) {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/self/task/%d/stat", static_cast<int>(thread));
  std::FILE* const file = std::fopen(path, "r");
  char state = '?';
  expect(file != nullptr && std::fscanf(file, "%*d (%*[^)]) %c", &state) == 1, path);
  std::fclose(file);
  return state == 'S';
}

constinit std::atomic<bool> fork_has_begun = false;
constinit std::atomic<pid_t> unloading = 0;

/// A fork calls this handler between the first and the second handler of the plugin, because the
/// plugin registers its handlers later.
void begin_unloading() {
  if (unloading == 0) {
    fork_has_begun = true;
    fork_has_begun.notify_all();
    unloading.wait(0);
    while (!sleeps(unloading)) {  // it sleeps once it waits for this fork
      std::this_thread::yield();
    }
  }
}

void unload_while_forking() {
  expect(::pthread_atfork(&begin_unloading, nullptr, nullptr) == 0, "pthread_atfork");
  void* const loaded = load();
  use(loaded);
  std::thread thread([&] {
    fork_has_begun.wait(false);
    unloading = ::gettid();
    unloading.notify_all();
    unload(loaded);
  });
  fork_and_expect([] {});
  thread.join();
}

/// Forks while the plugin is in various states of loading, use and unloading.
void fork_while_cycling(int forks) {
  std::atomic<bool> is_over = false;
  std::thread cycling([&] {
    while (!is_over) {
      cycle();
    }
  });
  for (int number = 0; number < forks; ++number) {
    fork_and_expect([] {});
  }
  is_over = true;
  cycling.join();
}

}  // namespace

int main(int count, char** arguments) {
  expect(count == 2, "usage: plugin_cycles PLUGIN");
  plugin = arguments[1];
  const auto in_both_threads = [](int times) {
    for (int cycles = 0; cycles < times; ++cycles) {
      cycle();
      std::thread(&cycle).join();
    }
  };
  in_both_threads(10);
  const long pages = mapped_pages();
  const long heap = heap_nbytes();
  in_both_threads(50);
  const long more_pages = mapped_pages() - pages;
  const long more_heap = heap_nbytes() - heap;
  std::printf("growth in 100 cycles: %ld pages, %ld bytes of heap\n", more_pages, more_heap);
  // The idle blocks of one cycle have 4096 pages, and an emulator retains some pages for each
  // thread. The cache of a thread has a few thousand bytes.
  expect(more_pages < 10'000, "idle blocks are not released");
  expect(more_heap < 50'000, "each cycle leaks heap memory");

  std::promise<void> used;
  std::promise<void> unloaded;
  void* const loaded = load();
  std::thread living([&] {
    use(loaded);
    used.set_value();
    unloaded.get_future().wait();
  });
  used.get_future().wait();
  unload(loaded);
  unloaded.set_value();
  living.join();

  fork_and_expect(&cycle);
  ::alarm(120);  // ends the program if it hangs
  unload_while_forking();
  if (std::getenv("BYRE_EMULATED") == nullptr) {
    fork_while_cycling(500);
  }
  return 0;
}
