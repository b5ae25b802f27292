# SPDX-License-Identifier: BSL-1.0
# byre for vcpkg, as an overlay port of this checkout: vcpkg install byre --overlay-ports=packaging/vcpkg
# In a registry, vcpkg_from_git(OUT_SOURCE_PATH SOURCE_PATH URL ... REF v${VERSION}) takes its place.
get_filename_component(SOURCE_PATH "${CMAKE_CURRENT_LIST_DIR}/../.." ABSOLUTE)

# byre_feature(VARIABLE FEATURE WANTED OTHERWISE) : the value of Meson's option, if FEATURE is wanted or not.
function(byre_feature variable feature wanted otherwise)
  if(feature IN_LIST FEATURES)
    set(${variable} ${wanted} PARENT_SCOPE)
  else()
    set(${variable} ${otherwise} PARENT_SCOPE)
  endif()
endfunction()
byre_feature(checks checks enabled disabled)
byre_feature(stats no-stats disabled enabled)
byre_feature(static_tls static-tls enabled disabled)
byre_feature(tensor tensor enabled disabled)
byre_feature(functional functional enabled disabled)

vcpkg_configure_meson(
  SOURCE_PATH "${SOURCE_PATH}"
  OPTIONS
    -Dchecks=${checks}
    -Dstats=${stats}
    -Dstatic_tls=${static_tls}
    -Dtensor=${tensor}
    -Dfunctional=${functional}
    -Dtests=disabled
    -Dverification=disabled
    -Dstress=disabled
    -Dbenchmarks=disabled
    -Dexamples=disabled
    -Dpython=disabled
    -Dvulkan=disabled
)
vcpkg_install_meson()
vcpkg_fixup_pkgconfig()
# byreConfig.cmake finds its libraries from where it is, which it does not after vcpkg_cmake_config_fixup: it stays.
set(VCPKG_POLICY_SKIP_MISPLACED_CMAKE_FILES_CHECK enabled)
set(VCPKG_POLICY_SKIP_LIB_CMAKE_MERGE_CHECK enabled)
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include" "${CURRENT_PACKAGES_DIR}/debug/lib/cmake")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
