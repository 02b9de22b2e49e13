// Prints the target of the machine that this runs on.
#include <iostream>

#include "core/target/target.h"

int main() { std::cout << slipway::HostTarget().ToString() << "\n"; }
