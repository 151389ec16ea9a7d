import Files
import ManagedModel
import ManagedStore
import TestSupport
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The program where it may not write, under odd names, and beside another of its kind.
@Suite(
  "Places", .enabled(if: !Shell.strata.isEmpty, "the program was not built"))
struct PlacesTests {
  private static let isRoot = geteuid() == 0

  /// A folder that all may enter, with the program in it: other users cannot reach the build.
  private static func open(_ scene: KillScene) throws -> [String] {
    chmod(scene.folder.path, 0o755)
    return ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
  }

  private static func expectRefusal(
    _ child: ChildProgram, _ words: String, in place: String, _ before: [String: [UInt8]]
  ) throws {
    #expect(child.wait() == 5, "\(child.text)")
    let error = child.lines.last?.error
    #expect(error?.message.contains(words) == true && error?.hint != nil, "\(child.text)")
    #expect(try KillTests.bytes(in: place) == before)
  }

  @Test(
    "a folder mounted read-only: told before the work; elsewhere it can be written",
    .enabled(if: isRoot, "only root can mount"),
    arguments: TestScale.some(1, of: [KillScene.Kind.inPlace, .copying, .repair]))
  func mounted(kind: KillScene.Kind) throws {
    let scene = try KillScene(kind, hasLog: true, objects: 200)
    let place = try scene.fresh()
    let before = try KillTests.bytes(in: place)
    guard
      Shell.run("mount --bind '\(place)' '\(place)' && mount -o remount,ro,bind '\(place)'") == 0
    else {
      Shell.run("umount '\(place)'")
      print("skipped: a folder cannot be mounted read-only here")
      return
    }
    defer { Shell.run("umount '\(place)'") }
    try Self.expectRefusal(scene.start(in: place), "Read-only file system", in: place, before)
    let output = scene.folder.path("Out.sqlite")
    let child = try scene.start(in: place, extra: ["--output", output])
    #expect(child.wait() == 0, "\(child.text)")
    #expect(try StoreDump.lines(at: output) == scene.after)
    #expect(try KillTests.bytes(in: place) == before)
  }

  @Test(
    "a store or a folder without the right to write: told before the work",
    .enabled(if: isRoot && Shell.run("command -v setpriv") == 0, "not root, or no setpriv"),
    arguments: TestScale.some(1, of: [KillScene.Kind.inPlace, .copying, .repair]))
  func permissions(kind: KillScene.Kind) throws {
    let scene = try KillScene(kind, objects: 200)
    let prefix = try Self.open(scene)
    let program = scene.folder.path("strata")
    try OtherProgram.copy(Shell.strata, to: program)
    for (file, folder) in [(mode_t(0o444), mode_t(0o777)), (0o666, 0o555)] {
      let place = try scene.fresh()
      chmod(place + "/Recipes.sqlite", file)
      chmod(place, folder)
      let child = try scene.start(
        in: place, program: program, prefix: prefix,
        environment: ["XDG_STATE_HOME": place + "-state", "TMPDIR": "/tmp"])
      try Self.expectRefusal(
        child, "Permission denied", in: place, KillTests.bytes(in: scene.base))
    }
  }

  @Test(
    "migrated by root, a store still belongs to its user",
    .enabled(if: isRoot, "only root can give files away"),
    arguments: TestScale.some(1, of: [KillScene.Kind.inPlace, .copying, .repair]))
  func owner(kind: KillScene.Kind) throws {
    let scene = try KillScene(kind, objects: 200)
    let place = try scene.fresh()
    let path = place + "/Recipes.sqlite"
    chown(path, 65534, 65534)
    chmod(path, 0o640)
    #expect(try scene.start(in: place).wait() == 0)
    for file in [path, place + "/" + scene.backup] {
      var info = stat()
      #expect(stat(file, &info) == 0 && info.st_uid == 65534 && info.st_gid == 65534)
      #expect(info.st_mode & 0o777 == 0o640)
    }
  }

  @Test(
    "names with spaces, quotes, signs, newlines and pictures",
    arguments: [KillScene.Kind.inPlace, .copying, .chain, .repair])
  func names(kind: KillScene.Kind) throws {
    let scene = try KillScene(kind, hasLog: true, objects: 200)
    let all = [
      "My Store.sqlite", "it's \"mine\".sqlite", "100%41?a#b&c=d.sqlite", "two\nlines.sqlite",
      "😀é.sqlite", "no suffix", ".hidden.store", "-x.sqlite", "a;b$(c)`d`\\e.sqlite",
    ]
    for name in TestScale.some(kind == .inPlace ? 4 : 1, of: all) {
      let place = scene.folder.path("odd " + name.replacing("\n", with: " \n"))
      try KillScene.copy(scene.base, to: place)
      for suffix in ["", "-wal"] {
        try FileSystem.rename(place + "/Recipes.sqlite" + suffix, to: place + "/" + name + suffix)
      }
      let stem = FileSystem.stem(of: name)
      try FileSystem.rename(place + "/.Recipes_SUPPORT", to: place + "/." + stem + "_SUPPORT")
      let child = try scene.start(in: place, store: name)
      #expect(child.wait() == 0, "\(name): \(child.text)")
      #expect(try StoreDump.lines(at: place + "/" + name) == scene.after, "\(name)")
      #expect(
        try StoreDump.lines(at: place + "/" + stem + scene.backup.dropFirst("Recipes".count))
          == scene.before, "\(name)")
      let left = try FileSystem.list(place)
      #expect(left.count == 3, "\(left)")
    }
  }

  @Test("what a migration keeps of itself lies beside the store: it needs no folder of the user’s")
  func state() throws {
    let scene = try KillScene(.inPlace, objects: 200)
    let place = try scene.fresh()
    let child = try scene.start(
      in: place,
      environment: [
        "XDG_STATE_HOME": "/dev/null/x", "HOME": "/dev/null/h", "TMPDIR": "/dev/null/y",
      ])
    #expect(child.wait() == 0, "\(child.text)")
    #expect(try StoreDump.lines(at: place + "/Recipes.sqlite") == scene.after)
    #expect(try StoreDump.lines(at: place + "/Recipes.backup-1") == scene.before)
  }

  @Test("a private copy that an earlier run could not remove goes with the next look at a store")
  func leftCopy() throws {
    let demo = InterfaceDemo(objects: 50)
    let temporary = try TemporaryFolder()
    try FileSystem.makeDirectory(temporary.path("strata-copy.abcdef"))
    try FileSystem.write([1], to: temporary.path("strata-copy.abcdef/Recipes.sqlite"))
    #expect(Shell.run("TMPDIR='\(temporary.path)' '\(Shell.strata)' info '\(demo.store)'") == 0)
    #expect(try FileSystem.list(temporary.path) == [])
  }

  @Test(
    "two at once: the second is refused, the first is not disturbed",
    arguments: TestScale.isFull ? KillScene.Kind.allCases : [.inPlace])
  func two(kind: KillScene.Kind) throws {
    let scene = try KillScene(kind, objects: 12_000)
    let place = try scene.fresh()
    let first = try scene.start(in: place)
    first.read { $0.has("\"progress\"") }
    first.signal(SIGSTOP)
    let second = try scene.start(in: place)
    #expect(second.wait() == 5, "\(second.text)")
    #expect(second.lines.last?.error?.message == "another strata process is working on this store")
    // Another state folder, as another user has: nothing tells the two of each other.
    let third = try scene.start(
      in: place, environment: ["XDG_STATE_HOME": scene.folder.path("other")])
    let thirdStatus = third.wait()
    first.signal(SIGCONT)
    let firstStatus = first.wait()
    // One of them, at most, puts its result in place, and that is whole.
    #expect(
      [firstStatus, thirdStatus].count { $0 == 0 } == 1,
      "\(first.text.suffix(300)) \(third.text.suffix(300))")
    #expect(try StoreDump.lines(at: place + "/Recipes.sqlite") == scene.after)
    #expect(try StoreDump.lines(at: place + "/" + scene.backup) == scene.before)
    #expect(
      try FileSystem.list(place) == [".Recipes_SUPPORT", scene.backup, "Recipes.sqlite"].sorted())
  }
}
