// Writes the entry of a text of PTX, instruction by instruction.
#ifndef SLIPWAY_CORE_CODEGEN_TENSOR_CORES_PTX_WRITER_H_
#define SLIPWAY_CORE_CODEGEN_TENSOR_CORES_PTX_WRITER_H_

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"

namespace slipway {

class PtxWriter {
 public:
  enum class Kind { kWord, kFloat, kAddress, kPredicate };  // .b32, .f32, .b64, .pred

  // "%r7", of its own.
  std::string Register(Kind kind);
  std::vector<std::string> Registers(Kind kind, int count);

  // An instruction and its operands, "add.u32" and {"%r1", "%r2", "4"}.
  void Do(absl::string_view instruction, const std::vector<std::string>& operands) {
    absl::StrAppend(&body_, "\t", instruction, operands.empty() ? "" : " ",
                    absl::StrJoin(operands, ", "), ";\n");
  }
  // The same where a predicate holds, "%p1" or "!%p1".
  void DoIf(absl::string_view predicate, absl::string_view instruction,
            const std::vector<std::string>& operands) {
    Do(absl::StrCat("@", predicate, " ", instruction), operands);
  }
  // The same into a new register.
  std::string Make(Kind kind, absl::string_view instruction, std::vector<std::string> operands);
  std::string Word(absl::string_view instruction, std::vector<std::string> operands) {
    return Make(Kind::kWord, instruction, std::move(operands));
  }
  std::string Float(absl::string_view instruction, std::vector<std::string> operands) {
    return Make(Kind::kFloat, instruction, std::move(operands));
  }

  // A name for a place that is still to come.
  std::string NewLabel() { return absl::StrCat("PLACE_", labels_++); }
  void Place(absl::string_view label) { absl::StrAppend(&body_, label, ":\n"); }

  // Memory that a group shares.
  void Share(absl::string_view name, int bytes) {
    absl::StrAppend(&declarations_, "\t.shared .align 128 .b8 ", name, "[", bytes, "];\n");
  }

  // Words that are known, in the device's memory, from a multiple of 16 bytes on.
  void Table(absl::string_view name, const std::vector<int64_t>& words) {
    absl::StrAppend(&before_, ".global .align 16 .b32 ", name, "[", words.size(), "] = {",
                    absl::StrJoin(words, ","), "};\n");
  }

  // Memory that a group shares, whose size each launch says. Of a text whose entries all say so of this name.
  void ShareWhatIsGiven(absl::string_view name, int alignment) {
    absl::StrAppend(&before_, ".extern .shared .align ", alignment, " .b8 ", name, "[];\n");
  }

  // The entry, with so many parameters that are tensors, "NAME_param_0" and so on, for groups of that many instances.
  std::string Entry(absl::string_view name, size_t parameters, int instances) const;

 private:
  std::string before_;
  std::string declarations_;
  std::string body_;
  int counts_[4] = {};
  int labels_ = 0;
};

// "{%r1, %r2}".
std::string InBraces(const std::vector<std::string>& registers);
// "[%rd1+16]".
std::string At(absl::string_view address, int64_t offset = 0);
// "0f3F800000".
std::string FloatLiteral(float value);

}  // namespace slipway

#endif  // SLIPWAY_CORE_CODEGEN_TENSOR_CORES_PTX_WRITER_H_
