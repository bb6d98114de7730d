// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/abi.hpp"

#include <gtest/gtest.h>

namespace progress_engine {
namespace {

TEST(Abi, AnMpiLibraryIsToldByItsName) {
  for (const char* name : {"libmpi.so.40", "/usr/lib/libmpich.so.12", "libmpi_abi.so.1", "libmpi_gnu_91.so.12",
                           "libmpi_cray.so.12", "libmpich_gnu_82.so.3", "libmpi_nvidia.so.12", "libmpi_ibm.so.3"})
    EXPECT_TRUE(is_mpi_library(name)) << name;
  for (const char* name : {"libmpi", "libmpifort.so.12", "libmpi_gtl_cuda.so.0", "libmpi_usempif08.so.40",
                           "libmpi_gnu_91_extra.so.12", "libc.so.6", "libmpi_cxx.so.40", "a.out"})
    EXPECT_FALSE(is_mpi_library(name)) << name;
}

TEST(Abi, MpichsVendorsAreOfItsAbiAndOpenMpisAreNot) {
  for (const char* name : {"libmpi.so.12", "libmpich.so.12", "libmpi_gnu_91.so.12", "libmpi_cray.so.12"})
    EXPECT_TRUE(same_abi(name, "libmpi.so.12")) << name;
  for (const char* name : {"libmpi_gnu_91.so.12", "libmpi_ibm.so.3", "libmpi.so.12", "libmpi_abi.so.1"})
    EXPECT_FALSE(same_abi(name, "libmpi.so.40")) << name;
  EXPECT_FALSE(same_abi("libmpich_gnu_82.so.3", "libmpi.so.12"));
}

TEST(Abi, AFileOfAReleaseIsOfItsLibrarysAbi) {
  EXPECT_TRUE(same_abi("libmpi_abi.so.1.0", "libmpi_abi.so.1"));
  EXPECT_TRUE(same_abi("/opt/mpi/lib/libmpi.so.12.0.0", "libmpi.so.12"));
  EXPECT_FALSE(same_abi("libmpi.so.120", "libmpi.so.12"));
  EXPECT_FALSE(same_abi("libmpi.so", "libmpi.so.12"));
}

}  // namespace
}  // namespace progress_engine
