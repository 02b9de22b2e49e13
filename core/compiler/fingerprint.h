// The fingerprint: everything about this compiler that changes what it makes.
#ifndef SLIPWAY_CORE_COMPILER_FINGERPRINT_H_
#define SLIPWAY_CORE_COMPILER_FINGERPRINT_H_

#include <string>

namespace slipway {

// 64 hexadecimal digits: the SHA-256 of FingerprintText(). Goes into compile keys, so that two workers
// with the same fingerprint make the same artifact of the same question.
std::string WorkerFingerprint();

// What the fingerprint is made of, a line each: the version of Slipway, the revision of its passes, and
// of every backend the names and versions of its code generators and the revision of their schedules.
std::string FingerprintText();

}  // namespace slipway

#endif  // SLIPWAY_CORE_COMPILER_FINGERPRINT_H_
