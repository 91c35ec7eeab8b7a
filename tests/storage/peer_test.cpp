// Tests the exchange of files with Python's safetensors package. test_safetensors_peer.py sets
// SLIMBAYES_PEER_FOLDER, writes foreign.safetensors into that folder, runs these tests and reads
// ours.safetensors afterwards. Without the variable the tests run alone, in a folder of their own.
#include <gtest/gtest.h>

#include <cstdlib>

#include "slimbayes/storage/atomic_file.h"
#include "slimbayes/storage/error.h"
#include "slimbayes/storage/tensor_file.h"
#include "tests/storage/sample.h"

namespace slimbayes {
namespace {

using trial::Folder;
using trial::message_of;
using trial::same;
using trial::sample;

class Peer : public ::testing::Test {
 protected:
  std::filesystem::path file(const std::string& name) const {
    const char* given = std::getenv("SLIMBAYES_PEER_FOLDER");
    return given != nullptr ? std::filesystem::path(given) / name : own_ / name;
  }

 private:
  Folder own_;
};

TEST_F(Peer, WritesWhatPythonOpens) {
  write_tensor_file(file("ours.safetensors"), sample());
  EXPECT_TRUE(same(read_tensor_file(file("ours.safetensors")), sample()));
}

TEST_F(Peer, RefusesAFileThatAnotherProgramWrote) {
  const auto path = file("foreign.safetensors");
  if (!std::filesystem::exists(path)) {
    // The bytes that numpy.save({"w": [1.5, -2.0]}, {"made": "by python"}) of safetensors 0.8 writes.
    const std::string header =
        R"({"__metadata__":{"made":"by python"},"w":{"dtype":"F64","shape":[2],"data_offsets":[0,16]}}     )";
    auto bytes = trial::raw(std::string("\x60\0\0\0\0\0\0\0", 8) + header);
    const auto data = trial::raw(std::vector<double>{1.5, -2.0});
    bytes.insert(bytes.end(), data.begin(), data.end());
    write_atomically(path, bytes);
  }
  const std::string message = message_of([&] { read_tensor_file(path); });
  EXPECT_NE(message.find("no checksum: not a slimbayes file"), std::string::npos) << message;
  EXPECT_THROW(read_tensor_file(path), DataError);
}

}  // namespace
}  // namespace slimbayes
