"""How a binary gets its C++ runtime (the toolchain itself links only libm)."""

SHARED_CXX_RUNTIME = ["-lstdc++"]

STATIC_CXX_RUNTIME = [
    "-static-libgcc",
    "-l:libstdc++.a",
]
