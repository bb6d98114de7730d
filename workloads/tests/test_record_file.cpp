// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "common/errors.h"
#include "common/record_file.h"

namespace workloads {
namespace {

namespace fs = std::filesystem;

std::string contents(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

class RecordFileTest : public ::testing::Test {
 protected:
  void TearDown() override { fs::remove(path_); }
  fs::path path_ = fs::temp_directory_path() / ("record-" + std::to_string(getpid()) + ".jsonl");
};

TEST_F(RecordFileTest, LinesAreThereAsSoonAsWritten) {
  RecordFile file(path_);
  file.write({{"z", 1}, {"a", {0.1, 1e-9}}});
  EXPECT_EQ(contents(path_), "{\"z\":1,\"a\":[0.1,1e-09]}\n");
  file.write({{"b", 2}});
  EXPECT_EQ(contents(path_), "{\"z\":1,\"a\":[0.1,1e-09]}\n{\"b\":2}\n");
}

TEST_F(RecordFileTest, NumbersSurvive) {
  const double value = 0.00042605399999999997;
  RecordFile(path_.string()).write(Json{{"x", value}});
  EXPECT_EQ(Json::parse(contents(path_))["x"].get<double>(), value);
}

TEST_F(RecordFileTest, TextThatIsNotUtf8IsReplaced) {
  RecordFile(path_.string()).write(Json{{"argument", "a\xff"}});
  EXPECT_EQ(Json::parse(contents(path_))["argument"], "a\xEF\xBF\xBD");
}

TEST_F(RecordFileTest, WhatCannotBeOpenedIsAUsageError) {
  EXPECT_THROW(RecordFile("/nonexistent/folder/record.jsonl"), UsageError);
  EXPECT_THROW(RecordFile("/tmp"), UsageError);
}

TEST_F(RecordFileTest, AFullDiskIsAFailure) {
  RecordFile full("/dev/full");
  EXPECT_THROW(full.write({{"a", 1}}), Failure);
}

}  // namespace
}  // namespace workloads
