"""What is installed and packaged, by the scripts of reports/install on small stand-ins: tally.o, the packages that a Debian
package asks for, and the libraries that a wheel brings."""
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

INSTALL = pathlib.Path(__file__).resolve().parents[2] / "reports" / "install"
LISTS = f"""cmake_minimum_required(VERSION 3.25)
project(small LANGUAGES CXX)
add_library(rapidcheck STATIC rapidcheck.cpp)
add_library(other STATIC other.cpp)
foreach(part tally_main tally_first tally_second tally_faults_checked)
  add_library(${{part}} OBJECT ${{part}}.cpp)
  target_precompile_headers(${{part}} PRIVATE <cstddef>)
endforeach()
set(TALLY_LAB tally_first tally_second)
set(GMP_LIBRARY libother.a)
set(MPFR_LIBRARY "${{CMAKE_OBJDUMP}}")  # no library, as where a name is not found
include("{INSTALL}/object.cmake")
"""
NAMES = ["other", "rapidcheck", "tally_faults_checked", "tally_first", "tally_main", "tally_second"]
DPKG = """#!/bin/sh
case $2 in
*/libneeded*) echo "libneeded1:amd64: /usr/lib/$2" ;;
*/libopened*) echo "base-files, other: /usr/lib/$2" ;;
*/libsame*) echo "base-files: /usr/lib/$2" ;;
*) echo "dpkg-query: no path found matching pattern $2" >&2; exit 1 ;;
esac
"""


class Packaging(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="a project ")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.tool("dpkg", DPKG)

    def tool(self, name, text):
        (self.folder / "bin").mkdir(exist_ok=True)
        (self.folder / "bin" / name).write_text(text)
        (self.folder / "bin" / name).chmod(0o755)

    def run_in(self, *words, code=0):
        ran = subprocess.run(words, cwd=self.folder, capture_output=True, text=True,
                             env={**os.environ, "PATH": f"{self.folder}/bin:{os.environ['PATH']}", "DESTDIR": ""})
        self.assertEqual(ran.returncode, code, ran.stdout + ran.stderr)
        return ran.stdout + ran.stderr

    def library(self, name, *options, soname=True):
        (self.folder / f"{name}.cpp").write_text(f"int {name}() {{ return 1; }}\n")
        file = self.folder / f"lib{name}.so.1.2"
        named = [f"-Wl,-soname,lib{name}.so.1"] if soname else []
        self.run_in("c++", "-shared", "-fPIC", "-o", str(file), f"{name}.cpp", *named, *options)
        (self.folder / f"lib{name}.so.1").symlink_to(file.name)
        return file

    def test_the_object_holds_every_part_and_static_library(self):
        (self.folder / "CMakeLists.txt").write_text(LISTS)
        for name in NAMES:
            used = "int rapidcheck(); int other(); int all() { return rapidcheck() + other(); }" if name == "tally_main" else ""
            (self.folder / f"{name}.cpp").write_text(f"{used}\nint {name}() {{ return 1; }}\n")

        self.run_in("cmake", "-G", "Ninja", "-S", ".", "-B", "build")
        self.run_in("ninja", "-C", "build", "other")  # as a library of the system is there
        self.run_in("ninja", "-C", "build")

        symbols = self.run_in("nm", "-C", "build/reports/install/tally.o")
        self.assertEqual(sorted(re.findall(r" T (\w+)\(\)", symbols)), sorted([*NAMES, "all"]))

    def test_the_debian_package_asks_for_each_package_once_and_this_c_library(self):
        (self.folder / "asks.cmake").write_text(
            f'set(CPACK_TALLY_LIBRARIES -l:libneeded.so.1 -l:libopened.so.1 -l:libsame.so.1 -l:libunknown.so)\n'
            f'include("{INSTALL}/depends.cmake")\nmessage("${{CPACK_DEBIAN_PACKAGE_DEPENDS}}")\n')
        for libc, asked in (("glibc 2.36", ", libc6 (>= 2.36)"), ("musl", "")):
            self.tool("getconf", f"#!/bin/sh\necho '{libc}'\n")
            self.assertEqual(self.run_in("cmake", "-P", "asks.cmake").strip(), f"libneeded1, base-files{asked}")

    def test_the_wheel_brings_what_it_opens_and_what_that_needs_by_their_own_names(self):
        self.library("needed")
        opened = self.library("opened", "-L.", "-Wl,--no-as-needed", "-l:libneeded.so.1.2", f"-Wl,-rpath,{self.folder}")
        bundle = ("cmake", f"-DCMAKE_INSTALL_PREFIX={self.folder}/out", "-Dlinked=")
        self.run_in(*bundle, f"-Dopened={opened}", "-P", str(INSTALL / "bundle.cmake"))

        brought = self.folder / "out" / "tally_program" / "lib"
        foreign = re.compile(r"lib(stdc\+\+|gcc_s)\.so")  # of the compiler, as this machine links them
        names = sorted(file.name for file in brought.iterdir() if not foreign.match(file.name))
        self.assertEqual(names, ["libneeded.so.1", "libopened.so.1"])
        self.assertFalse(any(file.is_symlink() for file in brought.iterdir()))
        licenses = [file.name for file in (brought.parent / "licenses").iterdir()]
        self.assertEqual(licenses, ["base-files"] * pathlib.Path("/usr/share/doc/base-files/copyright").exists())

        nameless = self.library("nameless", soname=False)
        said = self.run_in(*bundle, f"-Dopened={nameless}", "-P", str(INSTALL / "bundle.cmake"), code=1)
        self.assertIn("says no SONAME", said)


if __name__ == "__main__":
    unittest.main()
