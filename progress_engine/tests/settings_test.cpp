// SPDX-License-Identifier: BSD-3-Clause
#include "policy/settings.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "policy/sources.hpp"

namespace progress_engine {
namespace {

Policy policy_of(std::string_view preset, const Values& overrides = {}) {
  return make_policy(resolve_values(preset, overrides));
}

std::string complaint(std::string_view preset, const Values& overrides) {
  try {
    policy_of(preset, overrides);
  } catch (const SettingError& error) {
    return error.what();
  }
  return "";
}

TEST(Presets, AllAreValidAndExplained) {
  for (const auto& [name, preset] : all_presets().items()) {
    EXPECT_EQ(complaint(name, {}), "") << name;
    EXPECT_FALSE(preset["summary"].get<std::string>().empty()) << name;
    for (const auto& [key, value] : preset["settings"].items())
      EXPECT_NO_THROW(check_value(key, value.is_string() ? value.get<std::string>() : value.dump())) << name;
  }
}

TEST(Presets, AreTheVariantsThatTheStudiesName) {
  for (const char* name : {"off", "explicit", "thread", "timer", "idle", "adaptive", "offload"})
    EXPECT_TRUE(all_presets().contains(name)) << name;
}

TEST(Presets, OffHasNoPollingPointAtAll) {
  EXPECT_FALSE(policy_of("off").points.any());
  EXPECT_FALSE(policy_of("explicit").points.threads());
  EXPECT_TRUE(policy_of("idle").points.timer);
  EXPECT_EQ(policy_of("thread").trigger, Trigger::always);
  EXPECT_EQ(policy_of("adaptive").trigger, Trigger::outside);
}

TEST(Presets, TheDoorbellIsOfThoseThatWaitForTraffic) {
  for (const auto& [name, preset] : all_presets().items()) {
    const bool waits = name == "adaptive" || name == "mwait";
    EXPECT_EQ(policy_of(name).doorbell != Ringing::none, waits) << name;
  }
  EXPECT_NE(complaint("offload", {{"doorbell", "node"}}).find("doorbell=none"), std::string::npos);
}

TEST(Settings, DefaultsAreValidAndExplained) {
  for (const auto& setting : all_settings()) {
    EXPECT_NO_THROW(check_value(setting.key, setting.initial)) << setting.key;
    EXPECT_FALSE(setting.meaning.empty());
  }
}

// A row that stores into another one's field would leave its own at zero.
TEST(Settings, EachHasAFieldOfItsOwn) {
  std::set<void (*)(Policy&, const Setting&, std::string_view)> stores;
  for (const auto& setting : all_settings()) stores.insert(setting.store);
  EXPECT_EQ(stores.size(), all_settings().size());
}

TEST(Settings, DefaultsReachThePolicy) {
  const Policy policy = policy_of("off");
  EXPECT_EQ(policy.collectives, Collectives::automatic);
  EXPECT_FALSE(policy.managed_waiting);
  EXPECT_TRUE(policy_of("off", {{"waiting", "managed"}, {"points", "timer"}}).managed_waiting);
  EXPECT_EQ(policy_of("off", {{"gpu", "poll"}}).beside_gpus, BesideGpus::poll);
}

TEST(Settings, AnOverrideWinsOverThePreset) {
  EXPECT_EQ(policy_of("timer").timer_us, 2000);
  EXPECT_EQ(policy_of("timer", {{"timer_us", "50"}}).timer_us, 50);
}

TEST(Settings, WhatIsWrongIsNamed) {
  EXPECT_NE(complaint("nope", {}).find("unknown variant 'nope'"), std::string::npos);
  EXPECT_NE(complaint("timer", {{"timr_us", "1"}}).find("timr_us"), std::string::npos);
  EXPECT_NE(complaint("timer", {{"timer_us", "2ms"}}).find("from 10 to 1000000"), std::string::npos);
  EXPECT_NE(complaint("timer", {{"timer_us", ""}}), "");
  EXPECT_NE(complaint("timer", {{"timer_us", "99999999999999999999"}}), "");
  EXPECT_NE(complaint("timer", {{"strict", "yes"}}).find("0 or 1"), std::string::npos);
  EXPECT_NE(complaint("timer", {{"wait", "sleep"}}).find("mwait"), std::string::npos);
  EXPECT_NE(complaint("timer", {{"points", "timer,idol"}}), "");
  EXPECT_EQ(complaint("adaptive", {{"doorbell", "rma"}}),
            "doorbell=rma is not valid: it must be one of none, node, auto.");
}

TEST(Settings, WhatIsGoneIsRefusedWithWhatToUse) {
  struct Case {
    std::string key, value, sentence;
  };
  for (const auto& [key, value, sentence] : {
           Case{"nice", "5", "unknown setting 'nice': it is gone: use points=idle"},
           Case{"ring", "64", "unknown setting 'ring': it is gone: its 4096 commands are enough; leave it out."},
           Case{"queue", "64", "leave it out"},
           Case{"awaited_spin_us", "0", "leave it out"},
           Case{"nap_us", "100", "leave it out"},
           Case{"spin_us", "0", "leave it out"},
           Case{"inline_bytes", "0", "gpu=poll"},
           Case{"park_s", "1", "leave it out"},
           Case{"idle_threads", "2", "leave it out"},
           Case{"ult_wait", "remove", "pe_set_ult_waiting"},
           Case{"bell_bytes", "1", "use doorbell=auto"},
           Case{"bell_hosts", "n[1-2]", "use doorbell=auto"},
           Case{"bell_key", "key", "use doorbell=auto"},
           Case{"bell_port", "1", "use doorbell=auto"},
           Case{"doorbell", "udp", "doorbell=udp is gone: use doorbell=auto"},
           Case{"driver", "status", "use driver=test"},
           Case{"wait", "pause", "use wait=spin"},
           Case{"wait", "yield", "use wait=spin"},
           Case{"wait", "futex", "use wait=epoll"},
           Case{"doorbell", "node,udp", "doorbell=node,udp is gone: use doorbell=auto"},
       }) {
    EXPECT_NE(complaint("adaptive", {{key, value}}).find(sentence), std::string::npos) << key << "=" << value;
  }
  std::string before = "PROGRESS_ENGINE_RING=64";
  std::array<char*, 2> environment{before.data(), nullptr};
  try {
    overrides_from_environment(environment.data());
    FAIL();
  } catch (const SettingError& error) {
    EXPECT_STREQ(error.what(),
                 "PROGRESS_ENGINE_RING is not a setting: it is gone: its 4096 commands are enough; leave it out.");
  }
}

TEST(Settings, UnsoundCombinationsAreRefused) {
  EXPECT_NE(complaint("adaptive", {{"trigger", "always"}}), "");
  EXPECT_NE(complaint("adaptive", {{"wait", "spin"}}), "");
  EXPECT_NE(complaint("adaptive", {{"min_distance_us", "5000"}}), "");
  EXPECT_NE(complaint("thread", {{"wait", "epoll"}}), "");
  EXPECT_NE(complaint("thread", {{"wait", "mwait"}}).find("mwait"), std::string::npos);
  EXPECT_NE(complaint("explicit", {{"trigger", "outside"}}), "");
  EXPECT_NE(complaint("timer", {{"points", "none,timer"}}), "");
}

TEST(Settings, ComeFromTheEnvironment) {
  std::string wanted = "PROGRESS_ENGINE_TIMER_US=70";
  std::string preset = "PROGRESS_ENGINE=timer";
  std::string reserved = "PROGRESS_ENGINE_LIBRARY=/x";
  std::array<char*, 4> environment{wanted.data(), preset.data(), reserved.data(), nullptr};
  EXPECT_EQ(overrides_from_environment(environment.data()), (Values{{"timer_us", "70"}}));
  std::string unknown = "PROGRESS_ENGINE_TIMR=1";
  environment[0] = unknown.data();
  EXPECT_THROW(overrides_from_environment(environment.data()), SettingError);
  EXPECT_EQ(environment_name("timer_us"), "PROGRESS_ENGINE_TIMER_US");
}

class File {
 public:
  explicit File(const std::string& text) { std::ofstream(name_) << text; }
  ~File() { std::remove(name_.c_str()); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  const std::string& name() const { return name_; }

 private:
  std::string name_ =
      testing::TempDir() + "progress_engine_" + testing::UnitTest::GetInstance()->current_test_info()->name() + ".conf";
};

std::string complaint(const std::string& text) {
  const File file(text);
  try {
    read_configuration(file.name());
  } catch (const SettingError& error) {
    return error.what();
  }
  return "";
}

TEST(Configuration, HoldsKeysValuesAndComments) {
  const File file("# all of it\n\n variant = timer\ntimer_us=70 # short\n  report_file = /a/b c.json\t\n");
  const auto source = read_configuration(file.name());
  EXPECT_EQ(source.variant, "timer");
  EXPECT_EQ(source.values, (Values{{"timer_us", "70"}, {"report_file", "/a/b c.json"}}));
}

TEST(Configuration, SaysWhereSomethingIsWrong) {
  EXPECT_NE(complaint("timer_us = 70\ntimer_us = soon\n").find(", line 2: "), std::string::npos);
  EXPECT_NE(complaint("timr_us = 70\n").find("unknown setting 'timr_us'"), std::string::npos);
  EXPECT_NE(complaint("timer_us 70\n").find("must be KEY = VALUE"), std::string::npos);
  EXPECT_THROW(read_configuration("/no/such/file"), SettingError);
}

TEST(Sources, LaterOnesWinAndAreNamed) {
  const File file("variant = timer\ntimer_us = 70\nburst = 7\nidle_us = 5\n");
  std::string named = "PROGRESS_ENGINE_CONFIG=" + file.name();
  std::string burst = "PROGRESS_ENGINE_BURST=8";
  std::string period = "PROGRESS_ENGINE_IDLE_US=6";
  std::array<char*, 4> environment{named.data(), burst.data(), period.data(), nullptr};
  auto sources = sources_of_process(environment.data());
  sources.push_back({"the command line", {{"idle_us", "7"}}, ""});
  const auto resolved = resolve(sources);
  EXPECT_EQ(resolved.variant, "timer");
  const auto expect = [&](const char* key, const char* value, const std::string& origin) {
    EXPECT_EQ(resolved.values.at(key), value);
    EXPECT_EQ(resolved.origins.at(key), origin);
  };
  expect("timer_us", "70", file.name());
  expect("burst", "8", "the environment");
  expect("idle_us", "7", "the command line");
  expect("points", "timer", "variant timer");
  expect("rest_us", "10000", "default");
}

TEST(Sources, TheVariantOfALaterOneWins) {
  EXPECT_EQ(resolve({}).variant, "adaptive");
  EXPECT_EQ(resolve({{"a", {}, "timer"}, {"b", {}, ""}}).variant, "timer");
  EXPECT_EQ(resolve({{"a", {}, "timer"}, {"b", {}, "idle"}}).variant, "idle");
  EXPECT_THROW(resolve({{"a", {}, "nope"}}), SettingError);
}

}  // namespace
}  // namespace progress_engine
