// SPDX-License-Identifier: BSL-1.0
// plugin_cycles PLUGIN : loads the plugin, uses it and unloads it, again and again.
#include <windows.h>

#include <cstdio>

int main(int argc, char** argv) {
  constexpr int cycles = 50;
  for (int cycle = 0; argc == 2 && cycle < cycles; ++cycle) {
    const HMODULE plugin = ::LoadLibraryA(argv[1]);
    const auto use_byre = reinterpret_cast<int (*)()>(reinterpret_cast<void*>(
        plugin == nullptr ? nullptr : ::GetProcAddress(plugin, "use_byre")));
    if (use_byre == nullptr) {
      std::printf("cannot load %s: error %lu\n", argv[1], ::GetLastError());
      return 1;
    }
    if (const int copies = use_byre(); copies != 2) {
      std::printf("cycle %d: %d copies instead of 2\n", cycle, copies);
      return 1;
    }
    if (::FreeLibrary(plugin) == 0 || ::GetModuleHandleA(argv[1]) != nullptr) {
      std::printf("cycle %d: the plugin stays loaded\n", cycle);
      return 1;
    }
  }
  std::puts("good");
  return argc == 2 ? 0 : 2;
}
