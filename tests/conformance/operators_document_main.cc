// Prints core/operators/OPERATORS.md:
//   bazel run //tests/conformance:operators_document -- $PWD/core/reference/reference_corpus > core/operators/OPERATORS.md
#include <iostream>

#include "tests/conformance/operators_document.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "one argument is needed: the folder core/reference/reference_corpus\n";
    return 2;
  }
  const auto document = slipway::OperatorsDocument(argv[1]);
  if (!document.ok()) {
    std::cerr << document.status() << "\n";
    return 1;
  }
  std::cout << *document;
  return 0;
}
