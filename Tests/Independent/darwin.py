#!/usr/bin/env python3
"""Type-checks the package for macOS on a machine that is no Mac.

    darwin.py [--cache FOLDER] [--sources] [MODULE…]

The Swift sources, with every `#if canImport(Darwin)`, `#if os(macOS)` and what both platforms share, are checked
for the target x86_64-apple-macosx15 by the Swift compiler of this machine: names, parameters, fields,
constants, their types, and the version of macOS that each is available from. It reads
  - the C library's headers of macOS out of the PyPI package ziglang, which pip downloads to FOLDER
    (default: strata-darwin in XDG_CACHE_HOME or ~/.cache);
  - Swift's standard library out of the .swiftinterface files of this machine's toolchain, built for macOS;
  - ncurses out of the list below: what macOS declares without _XOPEN_SOURCE_EXTENDED, which is a subset of 5.7.
What stands in for the rest is written below: Swift's own additions to Darwin, Dispatch, and the few types of
Foundation that tests use. expat.h and sqlite3.h are this machine's.

Without MODULE, all Swift targets of Package.swift are checked, with --sources without tests. Each error is a line
`file:line:column: error: …`. Status 0: no errors; 1: errors; 2: it could not run, with the reason.

The first run builds the standard library, which takes a minute of processor time; it stays in FOLDER.
"""

import argparse
import glob
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile

TARGET = "x86_64-apple-macosx15.0"
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
HEADERS = "ziglang/lib/libc/include/any-darwin-any/"

# What of the toolchain's library is built, each after those that it imports.
LIBRARY = ("Swift", "_Concurrency", "SwiftOnoneSupport", "_StringProcessing", "Synchronization", "Testing")

# What every other header includes: a module of its own, since the compiler's own limits.h and stdint.h need it.
LOW = (
    "_types", "sys/_types", "sys/_pthread/", "machine/", "i386/", "sys/cdefs", "sys/appleapiopts", "sys/syslimits",
    "Availab", "TargetCond", "ConditionalMac", "stdint", "limits", "sys/_posix_av", "sys/_symbol", "_bounds",
    "sys/constrained", "sys/_endian", "sys/__endian", "os/availability",
)
# Not in Apple's module Darwin, or nothing that a program of ours would use.
LEFT_OUT = (
    "AssertMacros", "Block", "CommonCrypto", "MacTypes", "architecture", "arm", "bsm", "complex", "crt_externs", "curses",
    "db.h", "device", "dispatch", "float", "fts_compat", "gethostuuid", "hfs", "iso646", "launch", "libkern/", "libproc",
    "mach-o", "mach/", "mach_debug", "machine/_", "ndbm", "net", "objc", "os/", "simd", "stdarg", "stdbool", "stddef",
    "tgmath", "ucontext.h", "utmpx", "uuid", "xpc", "zconf", "zlib", "expat", "sqlite3",
)

# Headers that ziglang leaves out.
SUPPLEMENT = {
    "sys/xattr.h": """
#include <sys/types.h>
#define XATTR_NOFOLLOW 0x0001
#define XATTR_CREATE 0x0002
#define XATTR_REPLACE 0x0004
#define XATTR_NOSECURITY 0x0008
#define XATTR_NODEFAULT 0x0010
#define XATTR_SHOWCOMPRESSION 0x0020
#define XATTR_MAXNAMELEN 127
ssize_t getxattr(const char *path, const char *name, void *value, size_t size, u_int32_t position, int options);
ssize_t fgetxattr(int fd, const char *name, void *value, size_t size, u_int32_t position, int options);
int setxattr(const char *path, const char *name, const void *value, size_t size, u_int32_t position, int options);
int fsetxattr(int fd, const char *name, const void *value, size_t size, u_int32_t position, int options);
int removexattr(const char *path, const char *name, int options);
int fremovexattr(int fd, const char *name, int options);
ssize_t listxattr(const char *path, char *namebuff, size_t size, int options);
ssize_t flistxattr(int fd, char *namebuff, size_t size, int options);
""",
}

# ncurses 5.7, as far as programs use it. macOS declares the functions of wide characters only where
# _XOPEN_SOURCE_EXTENDED is set before, and Swift reads <curses.h> as a module of its own, for which no other header's
# macros hold: they are never there. Extended pairs (init_extended_pair, ext_color) came with 6.1.
NCURSES = """
#include <stdio.h>
#include <stdbool.h>
#include <stdarg.h>
#define NCURSES_VERSION_MAJOR 5
#define NCURSES_VERSION_MINOR 7
#define NCURSES_VERSION_PATCH 20081102
#define NCURSES_VERSION "5.7"
#define OK (0)
#define ERR (-1)
#define TRUE 1
#define FALSE 0
typedef unsigned chtype;
typedef unsigned long mmask_t;
typedef chtype attr_t;
typedef struct screen SCREEN;
typedef struct _win_st WINDOW;
extern chtype acs_map[];
extern WINDOW *curscr, *newscr, *stdscr;
extern char ttytype[];
extern int COLORS, COLOR_PAIRS, COLS, ESCDELAY, LINES, TABSIZE;
int addch(const chtype); int addnstr(const char *, int); int addstr(const char *);
int assume_default_colors(int, int); int attroff(int); int attron(int); int attrset(int);
int attr_get(attr_t *, short *, void *); int attr_off(attr_t, void *); int attr_on(attr_t, void *);
int attr_set(attr_t, short, void *); int baudrate(void); int beep(void); int bkgd(chtype); void bkgdset(chtype);
int border(chtype, chtype, chtype, chtype, chtype, chtype, chtype, chtype); int box(WINDOW *, chtype, chtype);
bool can_change_color(void); int cbreak(void); int chgat(int, attr_t, short, const void *); int clear(void);
int clearok(WINDOW *, bool); int clrtobot(void); int clrtoeol(void); int color_content(short, short *, short *, short *);
int color_set(short, void *); int curs_set(int); const char *curses_version(void); int def_prog_mode(void);
int def_shell_mode(void); int define_key(const char *, int); int delay_output(int); int delch(void);
int deleteln(void); void delscreen(SCREEN *); int delwin(WINDOW *); WINDOW *derwin(WINDOW *, int, int, int, int);
int doupdate(void); int echo(void); int endwin(void); int erase(void); char erasechar(void); void filter(void);
int flash(void); int flushinp(void); int getch(void); int getcurx(const WINDOW *); int getcury(const WINDOW *);
int getmaxx(const WINDOW *); int getmaxy(const WINDOW *); int getnstr(char *, int); int halfdelay(int);
bool has_colors(void); bool has_ic(void); bool has_il(void); int has_key(int); int hline(chtype, int);
void idcok(WINDOW *, bool); int idlok(WINDOW *, bool); void immedok(WINDOW *, bool); WINDOW *initscr(void);
int init_color(short, short, short, short); int init_pair(short, short, short); int intrflush(WINDOW *, bool);
bool isendwin(void); bool is_linetouched(WINDOW *, int); bool is_term_resized(int, int); bool is_wintouched(WINDOW *);
char *keybound(int, int); int key_defined(const char *); const char *keyname(int); int keyok(int, bool);
int keypad(WINDOW *, bool); char killchar(void); int leaveok(WINDOW *, bool); char *longname(void);
int meta(WINDOW *, bool); int move(int, int); int mvaddch(int, int, const chtype); int mvaddstr(int, int, const char *);
int mvcur(int, int, int, int); int mvwin(WINDOW *, int, int); int napms(int); WINDOW *newpad(int, int);
SCREEN *newterm(char *, FILE *, FILE *); WINDOW *newwin(int, int, int, int); int nl(void); int nocbreak(void);
int nodelay(WINDOW *, bool); int noecho(void); int nonl(void); void noqiflush(void); int noraw(void);
int notimeout(WINDOW *, bool); int pair_content(short, short *, short *); int pechochar(WINDOW *, const chtype);
void qiflush(void); int raw(void); int redrawwin(WINDOW *); int refresh(void); int resetty(void);
int reset_prog_mode(void); int reset_shell_mode(void); int resizeterm(int, int); int resize_term(int, int);
int savetty(void); int scroll(WINDOW *); int scrollok(WINDOW *, bool); int scrl(int); SCREEN *set_term(SCREEN *);
int set_escdelay(int); int set_tabsize(int); int start_color(void); WINDOW *subwin(WINDOW *, int, int, int, int);
int syncok(WINDOW *, bool); chtype termattrs(void); char *termname(void); void timeout(int); int touchwin(WINDOW *);
int tigetflag(char *); char *tigetstr(char *); int typeahead(int); int ungetch(int); void use_env(bool); int use_default_colors(void);
int use_extended_names(bool); int use_legacy_coding(int); int vidattr(chtype); int vline(chtype, int);
int waddch(WINDOW *, const chtype); int waddnstr(WINDOW *, const char *, int); int wclear(WINDOW *);
int wclrtoeol(WINDOW *); int werase(WINDOW *); int wgetch(WINDOW *); int wmove(WINDOW *, int, int);
int wnoutrefresh(WINDOW *); int wrefresh(WINDOW *); int wresize(WINDOW *, int, int); void wtimeout(WINDOW *, int);
#define NCURSES_ATTR_SHIFT 8
#define NCURSES_BITS(mask, shift) ((mask) << ((shift) + NCURSES_ATTR_SHIFT))
#define A_NORMAL 0L
#define A_ATTRIBUTES NCURSES_BITS(~(1UL - 1UL), 0)
#define A_STANDOUT NCURSES_BITS(1UL, 8)
#define A_UNDERLINE NCURSES_BITS(1UL, 9)
#define A_REVERSE NCURSES_BITS(1UL, 10)
#define A_BLINK NCURSES_BITS(1UL, 11)
#define A_DIM NCURSES_BITS(1UL, 12)
#define A_BOLD NCURSES_BITS(1UL, 13)
#define A_ALTCHARSET NCURSES_BITS(1UL, 14)
#define A_INVIS NCURSES_BITS(1UL, 15)
#define COLOR_PAIR(n) NCURSES_BITS(n, 0)
#define KEY_CODE_YES 0400
#define KEY_MIN 0401
#define KEY_BREAK 0401
#define KEY_SRESET 0530
#define KEY_RESET 0531
#define KEY_DOWN 0402
#define KEY_UP 0403
#define KEY_LEFT 0404
#define KEY_RIGHT 0405
#define KEY_HOME 0406
#define KEY_BACKSPACE 0407
#define KEY_F0 0410
#define KEY_DL 0510
#define KEY_IL 0511
#define KEY_DC 0512
#define KEY_IC 0513
#define KEY_EIC 0514
#define KEY_CLEAR 0515
#define KEY_EOS 0516
#define KEY_EOL 0517
#define KEY_SF 0520
#define KEY_SR 0521
#define KEY_NPAGE 0522
#define KEY_PPAGE 0523
#define KEY_STAB 0524
#define KEY_CTAB 0525
#define KEY_CATAB 0526
#define KEY_ENTER 0527
#define KEY_PRINT 0532
#define KEY_LL 0533
#define KEY_A1 0534
#define KEY_A3 0535
#define KEY_B2 0536
#define KEY_C1 0537
#define KEY_C3 0540
#define KEY_BTAB 0541
#define KEY_BEG 0542
#define KEY_CANCEL 0543
#define KEY_CLOSE 0544
#define KEY_COMMAND 0545
#define KEY_COPY 0546
#define KEY_CREATE 0547
#define KEY_END 0550
#define KEY_EXIT 0551
#define KEY_FIND 0552
#define KEY_HELP 0553
#define KEY_MARK 0554
#define KEY_MESSAGE 0555
#define KEY_MOVE 0556
#define KEY_NEXT 0557
#define KEY_OPEN 0560
#define KEY_OPTIONS 0561
#define KEY_PREVIOUS 0562
#define KEY_REDO 0563
#define KEY_REFERENCE 0564
#define KEY_REFRESH 0565
#define KEY_REPLACE 0566
#define KEY_RESTART 0567
#define KEY_RESUME 0570
#define KEY_SAVE 0571
#define KEY_SBEG 0572
#define KEY_SCANCEL 0573
#define KEY_SCOMMAND 0574
#define KEY_SCOPY 0575
#define KEY_SCREATE 0576
#define KEY_SDC 0577
#define KEY_SDL 0600
#define KEY_SELECT 0601
#define KEY_SEND 0602
#define KEY_SEOL 0603
#define KEY_SEXIT 0604
#define KEY_SFIND 0605
#define KEY_SHELP 0606
#define KEY_SHOME 0607
#define KEY_SIC 0610
#define KEY_SLEFT 0611
#define KEY_SMESSAGE 0612
#define KEY_SMOVE 0613
#define KEY_SNEXT 0614
#define KEY_SOPTIONS 0615
#define KEY_SPREVIOUS 0616
#define KEY_SPRINT 0617
#define KEY_SREDO 0620
#define KEY_SREPLACE 0621
#define KEY_SRIGHT 0622
#define KEY_SRSUME 0623
#define KEY_SSAVE 0624
#define KEY_SSUSPEND 0625
#define KEY_SUNDO 0626
#define KEY_SUSPEND 0627
#define KEY_UNDO 0630
#define KEY_MOUSE 0631
#define KEY_RESIZE 0632
#define KEY_EVENT 0633
#define KEY_MAX 0777
"""

# What Swift's own module Darwin adds to the C library: functions of any number of arguments, and macros of casts.
OVERLAY = """
@_exported import Darwin
public var errno: Int32 { get { __error().pointee } set { __error().pointee = newValue } }
public var stdin: UnsafeMutablePointer<FILE> { get { __stdinp } set { __stdinp = newValue } }
public var stdout: UnsafeMutablePointer<FILE> { get { __stdoutp } set { __stdoutp = newValue } }
public var stderr: UnsafeMutablePointer<FILE> { get { __stderrp } set { __stderrp = newValue } }
public func open(_ path: UnsafePointer<CChar>, _ oflag: Int32) -> Int32 { 0 }
public func open(_ path: UnsafePointer<CChar>, _ oflag: Int32, _ mode: mode_t) -> Int32 { 0 }
public func openat(_ fd: Int32, _ path: UnsafePointer<CChar>, _ oflag: Int32) -> Int32 { 0 }
public func openat(_ fd: Int32, _ path: UnsafePointer<CChar>, _ oflag: Int32, _ mode: mode_t) -> Int32 { 0 }
public func fcntl(_ fd: Int32, _ cmd: Int32) -> Int32 { 0 }
public func fcntl(_ fd: Int32, _ cmd: Int32, _ value: Int32) -> Int32 { 0 }
public func fcntl(_ fd: Int32, _ cmd: Int32, _ ptr: UnsafeMutableRawPointer) -> Int32 { 0 }
public func ioctl(_ fd: CInt, _ request: UInt, _ value: CInt) -> CInt { 0 }
public func ioctl(_ fd: CInt, _ request: UInt, _ ptr: UnsafeMutableRawPointer) -> CInt { 0 }
public func ioctl(_ fd: CInt, _ request: UInt) -> CInt { 0 }
public var S_IFMT: mode_t { 0 }
public var S_IFIFO: mode_t { 0 }
public var S_IFCHR: mode_t { 0 }
public var S_IFDIR: mode_t { 0 }
public var S_IFBLK: mode_t { 0 }
public var S_IFREG: mode_t { 0 }
public var S_IFLNK: mode_t { 0 }
public var S_IFSOCK: mode_t { 0 }
public var S_IRWXU: mode_t { 0 }
public var S_IRUSR: mode_t { 0 }
public var S_IWUSR: mode_t { 0 }
public var S_IXUSR: mode_t { 0 }
public var S_IRWXG: mode_t { 0 }
public var S_IRWXO: mode_t { 0 }
public var S_ISUID: mode_t { 0 }
public var S_ISGID: mode_t { 0 }
public var S_ISVTX: mode_t { 0 }
public typealias sighandler_t = @convention(c) (Int32) -> Void
public var SIG_DFL: sighandler_t? { nil }
public var SIG_IGN: sighandler_t { unsafeBitCast(1, to: sighandler_t.self) }
public var SIG_ERR: sighandler_t { unsafeBitCast(-1, to: sighandler_t.self) }
public var MAP_FAILED: UnsafeMutableRawPointer! { UnsafeMutableRawPointer(bitPattern: -1) }
public var environ: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?> { unsafeBitCast(8, to: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>.self) }
public var CLOCK_REALTIME: clockid_t { _CLOCK_REALTIME }
public var CLOCK_MONOTONIC: clockid_t { _CLOCK_MONOTONIC }
public var CLOCK_PROCESS_CPUTIME_ID: clockid_t { _CLOCK_PROCESS_CPUTIME_ID }
public var CLOCK_THREAD_CPUTIME_ID: clockid_t { _CLOCK_THREAD_CPUTIME_ID }
public var TIOCGWINSZ: UInt { 0x4008_7468 }
public var TIOCSWINSZ: UInt { 0x8008_7467 }
"""

# The part of Dispatch that is used, with the types that Apple's has.
DISPATCH = """
import Darwin
public class DispatchObject: @unchecked Sendable {
  public func resume() {}
  public func suspend() {}
}
public struct DispatchQoS: Equatable, Sendable {
  public enum QoSClass: Sendable {
    case background, utility, `default`, userInitiated, userInteractive, unspecified
    public init?(rawValue: qos_class_t) { return nil }
    public var rawValue: qos_class_t { qos_class_self() }
  }
  public let qosClass: QoSClass
  public let relativePriority: Int
  public init(qosClass: QoSClass, relativePriority: Int) { (self.qosClass, self.relativePriority) = (qosClass, relativePriority) }
  public static let background = DispatchQoS(qosClass: .background, relativePriority: 0)
  public static let utility = DispatchQoS(qosClass: .utility, relativePriority: 0)
  public static let `default` = DispatchQoS(qosClass: .default, relativePriority: 0)
  public static let userInitiated = DispatchQoS(qosClass: .userInitiated, relativePriority: 0)
  public static let userInteractive = DispatchQoS(qosClass: .userInteractive, relativePriority: 0)
  public static let unspecified = DispatchQoS(qosClass: .unspecified, relativePriority: 0)
}
public struct DispatchWorkItemFlags: OptionSet, Sendable {
  public let rawValue: UInt
  public init(rawValue: UInt) { self.rawValue = rawValue }
}
public class DispatchQueue: DispatchObject, @unchecked Sendable {
  public struct Attributes: OptionSet, Sendable {
    public let rawValue: UInt64
    public init(rawValue: UInt64) { self.rawValue = rawValue }
    public static let concurrent = Attributes(rawValue: 1)
  }
  public init(label: String, qos: DispatchQoS = .unspecified, attributes: Attributes = [], target: DispatchQueue? = nil) {}
  public static func global(qos: DispatchQoS.QoSClass = .default) -> DispatchQueue { DispatchQueue(label: "") }
  public static let main = DispatchQueue(label: "")
  public func async(group: DispatchGroup? = nil, qos: DispatchQoS = .unspecified, flags: DispatchWorkItemFlags = [], execute work: @escaping @Sendable @convention(block) () -> Void) {}
  public func asyncAfter(deadline: DispatchTime, qos: DispatchQoS = .unspecified, flags: DispatchWorkItemFlags = [], execute work: @escaping @Sendable @convention(block) () -> Void) {}
  public func sync<T>(execute work: () throws -> T) rethrows -> T { try work() }
  public static func concurrentPerform(iterations: Int, execute work: (Int) -> Void) {}
}
public enum DispatchTimeoutResult: Sendable { case success, timedOut }
public enum DispatchTimeInterval: Equatable, Sendable {
  case seconds(Int), milliseconds(Int), microseconds(Int), nanoseconds(Int), never
}
public struct DispatchTime: Comparable, Sendable {
  public let uptimeNanoseconds: UInt64
  public static func now() -> DispatchTime { DispatchTime(uptimeNanoseconds: 0) }
  public static let distantFuture = DispatchTime(uptimeNanoseconds: .max)
  public static func < (a: DispatchTime, b: DispatchTime) -> Bool { a.uptimeNanoseconds < b.uptimeNanoseconds }
}
public func + (time: DispatchTime, interval: DispatchTimeInterval) -> DispatchTime { time }
public func + (time: DispatchTime, seconds: Double) -> DispatchTime { time }
public class DispatchSemaphore: DispatchObject, @unchecked Sendable {
  public init(value: Int) {}
  @discardableResult public func signal() -> Int { 0 }
  public func wait() {}
  public func wait(timeout: DispatchTime) -> DispatchTimeoutResult { .success }
}
public class DispatchGroup: DispatchObject, @unchecked Sendable {
  public override init() {}
  public func enter() {}
  public func leave() {}
  public func wait() {}
  public func wait(timeout: DispatchTime) -> DispatchTimeoutResult { .success }
  public func notify(qos: DispatchQoS = .unspecified, flags: DispatchWorkItemFlags = [], queue: DispatchQueue, execute work: @escaping @Sendable @convention(block) () -> Void) {}
}
public protocol DispatchSourceProtocol: AnyObject {
  typealias DispatchSourceHandler = @Sendable @convention(block) () -> Void
  func setEventHandler(qos: DispatchQoS, flags: DispatchWorkItemFlags, handler: DispatchSourceHandler?)
  func cancel()
  func resume()
}
extension DispatchSourceProtocol {
  public func setEventHandler(qos: DispatchQoS = .unspecified, flags: DispatchWorkItemFlags = [], handler: DispatchSourceHandler?) {}
  public func cancel() {}
  public func resume() {}
}
public protocol DispatchSourceTimer: DispatchSourceProtocol {}
extension DispatchSourceTimer {
  public func schedule(deadline: DispatchTime, repeating interval: DispatchTimeInterval = .never, leeway: DispatchTimeInterval = .nanoseconds(0)) {}
}
public class DispatchSource: DispatchObject, @unchecked Sendable {
  public struct TimerFlags: OptionSet, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }
  }
  public class func makeTimerSource(flags: TimerFlags = [], queue: DispatchQueue? = nil) -> any DispatchSourceTimer { Timer() }
  private class Timer: DispatchSourceTimer {}
}
"""

# The part of Foundation that tests use; there is no FoundationEssentials on a Mac.
FOUNDATION = """
@_exported import Darwin
@_exported import Dispatch
public struct URL: Hashable, Sendable {
  public init(filePath: String) {}
  public init(fileURLWithPath: String) {}
}
public struct Data: Hashable, Sendable, RandomAccessCollection, MutableCollection, RangeReplaceableCollection {
  public typealias Index = Int
  private var bytes: [UInt8] = []
  public init() {}
  public init<S: Sequence>(_ elements: S) where S.Element == UInt8 { bytes = Array(elements) }
  public init(contentsOf url: URL) throws {}
  public var startIndex: Int { 0 }
  public var endIndex: Int { bytes.count }
  public subscript(index: Int) -> UInt8 { get { bytes[index] } set { bytes[index] = newValue } }
  public mutating func replaceSubrange<C: Collection>(_ range: Range<Int>, with other: C) where C.Element == UInt8 {}
  public func write(to url: URL) throws {}
}
public class JSONDecoder {
  public init() {}
  public func decode<T: Decodable>(_ type: T.Type, from data: Data) throws -> T { throw CancellationError() }
}
public class JSONEncoder {
  public init() {}
  public func encode<T: Encodable>(_ value: T) throws -> Data { Data() }
}
public class DirectoryEnumerator: Sequence, IteratorProtocol { public func next() -> Any? { nil } }
public class FileManager {
  nonisolated(unsafe) public static let `default` = FileManager()
  public func enumerator(atPath path: String) -> DirectoryEnumerator? { nil }
  public func contentsOfDirectory(atPath path: String) throws -> [String] { [] }
}
extension String {
  public enum Encoding { case utf8 }
  public init(contentsOfFile path: String, encoding: Encoding) throws { self = "" }
  public init(contentsOf url: URL, encoding: Encoding) throws { self = "" }
}
"""


class CannotRun(Exception):
    pass


class Kit:
    """A folder like macOS's SDK, made out of what is free."""

    def __init__(self, cache):
        self.cache = cache
        self.sdk = os.path.join(cache, "sdk")
        self.modules = os.path.join(cache, "modules")
        self.swiftc = shutil.which("swiftc")
        if not self.swiftc:
            raise CannotRun("there is no swiftc in PATH")
        info = json.loads(self.output([self.swiftc, "-print-target-info"]))
        self.version = info["compilerVersion"]
        self.resources = info["paths"]["runtimeResourcePath"]
        self.plugins = os.path.join(self.resources, "host/plugins")
        self.linux = os.path.join(self.resources, "linux")
        self.triple = info["target"]["moduleTriple"]

    @staticmethod
    def output(words):
        try:
            return subprocess.run(words, check=True, capture_output=True, text=True).stdout
        except (OSError, subprocess.CalledProcessError) as problem:
            raise CannotRun(f"{' '.join(words)}: {getattr(problem, 'stderr', '') or problem}") from None

    def frontend(self, *words):
        return [
            self.swiftc, "-frontend", *words, "-target", TARGET, "-sdk", self.sdk, "-resource-dir", self.resources,
            "-I", os.path.join(self.resources, "shims"), "-module-cache-path", os.path.join(self.cache, "clang"),
            "-disable-objc-interop", "-plugin-path", self.plugins,
        ]

    def make(self):
        """Makes what is missing, or was made of other text or by another compiler."""
        made = [HEADERS, LIBRARY, LOW, LEFT_OUT, SUPPLEMENT, NCURSES, OVERLAY, DISPATCH, FOUNDATION, self.version]
        mark = hashlib.sha256(json.dumps(made).encode()).hexdigest()
        stamp = os.path.join(self.cache, "stamp")
        if os.path.exists(stamp) and open(stamp).read() == mark:
            return
        wheel = self.wheel()
        for folder in (self.sdk, os.path.join(self.cache, "clang"), self.modules):
            shutil.rmtree(folder, ignore_errors=True)
        self.extract(wheel)
        self.map()
        # The library itself depends on the compiler only, and takes longest.
        for name in LIBRARY:
            self.interface(name)
            if name == "Swift":
                self.standin("Darwin", OVERLAY, ["-import-underlying-module"])
        self.standin("Dispatch", DISPATCH)
        self.standin("Foundation", FOUNDATION)
        with open(stamp, "w") as file:
            file.write(mark)

    def wheel(self):
        found = glob.glob(os.path.join(self.cache, "ziglang-*.whl"))
        if not found:
            os.makedirs(self.cache, exist_ok=True)
            print("downloading the PyPI package ziglang, 100 MB", file=sys.stderr)
            self.output([sys.executable, "-m", "pip", "download", "-q", "ziglang", "--no-deps", "-d", self.cache])
            found = glob.glob(os.path.join(self.cache, "ziglang-*.whl"))
        if not found:
            raise CannotRun("pip downloaded no wheel of ziglang")
        return found[0]

    def extract(self, wheel):
        include = os.path.join(self.sdk, "usr/include")
        with zipfile.ZipFile(wheel) as archive:
            names = [name for name in archive.namelist() if name.startswith(HEADERS) and not name.endswith("/")]
            if not names:
                raise CannotRun(f"{wheel} has no folder {HEADERS}")
            for name in names:
                self.write(os.path.join(include, name[len(HEADERS):]), archive.read(name).decode("utf-8", "replace"))
        for name, text in SUPPLEMENT.items():
            path = os.path.join(include, name)
            if not os.path.exists(path):
                self.write(path, "#pragma once\n" + text)
        self.write(os.path.join(include, "curses.h"), "#pragma once\n" + NCURSES)
        for name in ("expat.h", "expat_external.h", "sqlite3.h"):
            if not os.path.exists("/usr/include/" + name):
                raise CannotRun(f"there is no /usr/include/{name}")
            shutil.copy("/usr/include/" + name, include)
        settings = {"Version": "15.0", "CanonicalName": "macosx15.0", "MaximumDeploymentTarget": "15.99", "VersionMap": {}}
        self.write(os.path.join(self.sdk, "SDKSettings.json"), json.dumps(settings))

    @staticmethod
    def write(path, text):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write(text)

    def map(self):
        include = os.path.join(self.sdk, "usr/include")
        low, high = [], []
        for folder, _, files in os.walk(include):
            for file in files:
                name = os.path.relpath(os.path.join(folder, file), include)
                if not name.endswith(".h"):
                    continue
                if name.startswith(LOW):
                    low.append(name)
                elif not name.startswith(LEFT_OUT):
                    high.append(name)

        def module(name, headers, rest=""):
            lines = "".join(f'  header "{header}"\n' for header in sorted(headers))
            return f"module {name} [system] {{\n{lines}{rest}  export *\n}}\n"

        # As in Apple's SDK: a program sees what is in it only where it imports or includes it by name.
        ncurses = '  explicit module ncurses {\n    header "curses.h"\n    export *\n  }\n'
        self.write(
            os.path.join(include, "module.modulemap"),
            module("DarwinFoundation", low) + module("Darwin", high, ncurses)
            + module("CommonCrypto", ["CommonCrypto/CommonCrypto.h"])
            + module("zlib", ["zlib.h"]) + module("SQLite3", ["sqlite3.h"]))

    def place(self, name):
        folder = os.path.join(self.sdk, "usr/lib/swift", name + ".swiftmodule")
        os.makedirs(folder, exist_ok=True)
        return os.path.join(folder, "x86_64-apple-macos.swiftmodule")

    def interface(self, name):
        source = os.path.join(self.linux, name + ".swiftmodule", self.triple + ".swiftinterface")
        if not os.path.exists(source):
            raise CannotRun(f"the toolchain has no {source}")
        text = open(source).read()
        text = text.replace("-target " + self.triple, "-target " + TARGET)
        # Where a function came later than macOS 10.14, its body is only in Apple's own interface.
        text = re.sub(r"@backDeployed\([^)]*\)", "", text)
        # The lock of Linux, whose layout nothing here depends on.
        text = text.replace("import Glibc\n", "import Darwin\n").replace("_swift_stdlib_gettid()", "UInt32(0)")
        # A module of the C library may not be imported by the library itself.
        path = os.path.join(self.cache, "interfaces", name + ".swiftinterface")
        self.write(path, text)
        kept = os.path.join(self.cache, "library", hashlib.sha256((text + self.version).encode()).hexdigest())
        if name == "Swift" and os.path.exists(kept):
            shutil.copy(kept, self.place(name))
            return
        print(f"building {name} for macOS", file=sys.stderr)
        self.build(name, ["-compile-module-from-interface", path, "-disable-availability-checking"]
                   + (["-parse-stdlib"] if name in ("Swift", "_Concurrency") else []))
        if name == "Swift":
            os.makedirs(os.path.dirname(kept), exist_ok=True)
            shutil.copy(self.place(name), kept)

    def standin(self, name, text, words=()):
        path = os.path.join(self.cache, "standins", name + ".swift")
        self.write(path, text)
        alone = [
            "-disable-implicit-concurrency-module-import", "-disable-implicit-string-processing-module-import",
            # Else it would need SwiftOnoneSupport, which is built after it.
            "-O",
        ]
        self.build(name, ["-emit-module", path, "-parse-as-library", *(alone if name == "Darwin" else []), *words])

    def build(self, name, words):
        command = self.frontend(*words, "-module-name", name, "-o", self.place(name))
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            raise CannotRun(f"{name} cannot be built for macOS:\n{done.stderr[:4000]}")


class Target:
    def __init__(self, kind, name, text):
        self.kind = kind
        self.name = name
        path = re.search(r'\bpath: "([^"]*)"', text)
        folder = "Tests/" if kind == "testTarget" else "Sources/"
        self.folder = path.group(1) if path else folder + name
        found = re.search(r"\bdependencies: \[(.*?)\n?\s*\](?=[,)\s])", text, re.S)
        listed = found.group(1) if found else ""
        # What is for Linux alone is not there.
        listed = re.sub(r"\.target\([^()]*\.when\(platforms: \[\.linux\]\)\s*\)", "", listed)
        self.dependencies = re.findall(r'"([^"]+)"', listed)
        self.is_of_package = "packageAccess: false" not in text
        embedded = re.search(r'\.embedInCode\("([^"]+)"\)', text)
        self.embedded = os.path.join(ROOT, self.folder, embedded.group(1)) if embedded else None

    def sources(self):
        found = []
        for folder, _, files in os.walk(os.path.join(ROOT, self.folder)):
            found += [os.path.join(folder, file) for file in files if file.endswith(".swift")]
        return sorted(found)

    def resources(self):
        """What the package manager makes of files that are embedded, without their bytes."""
        names = sorted(os.listdir(self.embedded)) if self.embedded else []
        lines = "".join(f"  static let {re.sub(r'[^A-Za-z0-9]', '_', name)}: [UInt8] = []\n" for name in names)
        return f"struct PackageResources {{\n{lines}}}\n" if names else None


def targets():
    text = open(os.path.join(ROOT, "Package.swift")).read()
    text = text[text.index("targets: [\n    .systemLibrary"):]
    found = {}
    for start in re.finditer(r'\.(systemLibrary|target|executableTarget|testTarget)\(\s*name: "([^"]+)"', text):
        depth, end = 0, start.start()
        while True:
            depth += {"(": 1, ")": -1}.get(text[end], 0)
            end += 1
            if depth == 0 and text[end - 1] == ")":
                break
        if start.group(2) not in found:
            found[start.group(2)] = Target(start.group(1), start.group(2), text[start.start():end])
    return found


def ordered(found, names):
    result = []

    def visit(name):
        target = found.get(name)
        if target is None or target in result:
            return
        for dependency in target.dependencies:
            visit(dependency)
        if target not in result:
            result.append(target)

    for name in names:
        visit(name)
    return result


def check(kit, target, system, whole):
    """The errors and warnings of one target, as lines; without `whole` only of its declarations, which others need."""
    sources = target.sources()
    if not sources:
        return []
    path = os.path.join(kit.modules, target.name + ".swiftmodule")
    if not whole and os.path.exists(path) and os.path.getmtime(path) > max(map(os.path.getmtime, sources)):
        return []
    resources = target.resources()
    if resources:
        sources.append(os.path.join(kit.cache, "standins", target.name + "-resources.swift"))
        kit.write(sources[-1], resources)
    listed = os.path.join(kit.cache, "lists", target.name)
    kit.write(listed, "".join(f"{source}\n" for source in sources))
    common = ["-module-name", target.name, "-swift-version", "6", "-enable-testing", "-parse-as-library",
              "-I", kit.modules, "-filelist", listed]
    if target.is_of_package:
        common += ["-package-name", "strata"]
    for library in system:
        common += ["-Xcc", "-fmodule-map-file=" + os.path.join(ROOT, library.folder, "module.modulemap")]
    os.makedirs(kit.modules, exist_ok=True)
    lines = set()
    emitting = ["-emit-module", "-o", path, "-experimental-skip-all-function-bodies"]
    for words in (emitting, ["-typecheck"]) if whole else (emitting,):
        done = subprocess.run(kit.frontend(*words, *common), capture_output=True, text=True)
        found = re.findall(r"^(/[^\n]*:\d+:\d+: (?:error|warning): .*|<unknown>:0: error: .*)$", done.stderr, re.M)
        lines.update(line.replace(ROOT + "/", "") for line in found)
        if done.returncode != 0 and not found:
            lines.add(f"{target.folder}: error: {done.stderr.strip()[:2000]}")
    return sorted(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    parser.add_argument("--cache", default=os.path.join(base, "strata-darwin"))
    parser.add_argument("--sources", action="store_true", help="only what is in Sources")
    parser.add_argument("modules", nargs="*", metavar="MODULE")
    options = parser.parse_args()
    try:
        kit = Kit(os.path.abspath(options.cache))
        kit.make()
    except CannotRun as reason:
        print(f"cannot check for macOS: {reason}", file=sys.stderr)
        return 2
    found = targets()
    names = options.modules or [
        name for name, target in found.items() if not (options.sources and target.folder.startswith("Tests/"))
    ]
    unknown = [name for name in names if name not in found]
    if unknown:
        print(f"cannot check for macOS: no target {', '.join(unknown)}", file=sys.stderr)
        return 2
    system = [target for target in found.values() if target.kind == "systemLibrary"]
    wrong = 0
    for target in ordered(found, names):
        if target.kind == "systemLibrary":
            continue
        lines = check(kit, target, system, target.name in names)
        if target.name not in names and not lines:
            continue
        wrong += sum(": error: " in line for line in lines)
        print(f"{target.name}: {len(lines) or 'nothing'} to mend" if lines else f"{target.name}: checked")
        print("".join(f"{line}\n" for line in lines), end="", flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
