import Files
import ManagedModel
import ManagedStore
import TestSupport
import Testing

@testable import Commands
@testable import Containers
@testable import Interface
@testable import strata

@Suite("Reading containers")
struct ContainerReadingTests {
  @Test("a private copy is for its owner only, and goes when it is let go")
  func privateCopy() throws {
    let samples = try SampleContainers()
    for form: SampleContainers.Form in [.appData, .backup, .packedZip, .packedTar] {
      let (path, inner) = try samples.make(form)
      // As a container may have them.
      if form == .appData { chmod(path + "/" + inner, 0o666) }
      var copy: StoreCopy? = try StoreCopy(of: inner, in: Container(path))
      let place = try #require(copy?.path)
      let files =
        [place, place + "-wal"]
        + (try Tree(StoreFiles(path: place).externalDataFolder).files.map {
          StoreFiles(path: place).externalDataFolder + "/" + $0.name
        })
      #expect(files.count == samples.files.count)
      for file in files { #expect(FileSystem.status(file)?.permissions == 0o600, "\(file)") }
      var folder = try #require(copy?.root)
      #expect(FileSystem.status(folder)?.permissions == 0o700)
      folder = try #require(FileSystem.parent(of: folder))
      #expect(FileSystem.status(folder)?.permissions == 0o700)
      copy = nil
      #expect(FileSystem.status(folder) == nil)
    }
  }

  @Test("ordinary paths stay what they are, whatever slashes are in them")
  func ordinaryPaths() throws {
    let samples = try SampleContainers()
    let (folder, inner) = try samples.make(.folder)
    for path in [
      samples.store, folder + "//" + inner, "//tmp//none", "none.sqlite", "a//b", "/", "//",
    ] {
      switch StoreLocation(path) {
      case .inside: Issue.record("\(path)")
      case .file, .folder: break
      }
    }
    let (zip, _) = try samples.make(.zip)
    #expect(StoreLocation(zip) == .inside(container: zip, inner: nil))
    #expect(StoreLocation(zip + "//a/b.sqlite") == .inside(container: zip, inner: "a/b.sqlite"))
    #expect(StoreLocation(zip + "///a.sqlite") == .inside(container: zip, inner: "a.sqlite"))
    let (backup, _) = try samples.make(.backup)
    #expect(StoreLocation(backup + "//Manifest.db") == .file(backup + "//Manifest.db"))
    #expect(
      StoreLocation(backup + "//AppDomain-x/a")
        == .inside(container: backup, inner: "AppDomain-x/a"))
  }

  @Test("an archive is known by its bytes, whatever it is called")
  func misnamed() throws {
    let samples = try SampleContainers()
    let (path, _) = try samples.make(.packedTar)
    let other = samples.folder.path("Recipes.sqlite")
    try FileSystem.copyOver(path, to: other)
    #expect(Captured("dump", other).out == Captured("dump", samples.store).out)
  }

  @Test("of two members of one name the last counts, as it would on a disk")
  func repeated() throws {
    let samples = try SampleContainers()
    var tar = TarWriter()
    tar.add("App.sqlite", Array(samples.files[0].bytes.prefix(5000)))
    tar.add("App.sqlite", samples.files[0].bytes)
    for _ in 0..<2 { tar.add(".App_SUPPORT/_EXTERNAL_DATA/AAAA", [1]) }
    let path = samples.folder.path("twice.tar")
    try FileSystem.write(tar.bytes, to: path)
    #expect(Captured("dump", path).status == .done)
  }

  @Test("tar archives of other packings go through their programs, and a missing one is named")
  func programs() throws {
    let samples = try SampleContainers()
    let (path, _) = try samples.make(.tar)
    for (form, program) in [(ArchiveForm.xz, "xz"), (.bzip2, "bzip2"), (.zstd, "zstd")] {
      let packed = samples.folder.path("App." + form.rawValue)
      var bytes: [UInt8] = []
      let result = try Subprocess.run(
        program, ["-c", "--", path], environment: Subprocess.environment()
      ) { bytes += $0 }
      guard result?.status == 0 else {
        print("skipped: \(program) is not installed")
        let signature: [UInt8] =
          form == .zstd
          ? [0x28, 0xB5, 0x2F, 0xFD]
          : form == .xz
            ? [0xFD, 0x37, 0x7A, 0x58, 0x5A, 0] : Array("BZh9".utf8)
        try FileSystem.write(signature + [UInt8](repeating: 0, count: 64), to: packed)
        let missing = Captured("stores", packed)
        #expect(missing.status == .unreadable)
        #expect(missing.err.contains("install"))
        continue
      }
      try FileSystem.write(bytes, to: packed)
      #expect(Captured("dump", packed).out == Captured("dump", samples.store).out, "\(program)")
    }
  }

  @Test("what programs pack is read", arguments: ["zip", "tar"])
  func packedByPrograms(_ program: String) throws {
    let samples = try SampleContainers()
    let folder = samples.folder.path("plain")
    let path = samples.folder.path("packed")
    let words =
      program == "zip"
      ? ["-qr", path + ".zip", folder] : ["-czf", path + ".tgz", "-C", folder, "."]
    let result = try Subprocess.run(program, words, environment: Subprocess.environment()) { _ in }
    guard result?.status == 0 else {
      print("skipped: \(program) is not installed")
      return
    }
    let packed = path + (program == "zip" ? ".zip" : ".tgz")
    #expect(Captured("dump", packed).out == Captured("dump", samples.store).out)
  }

  @Test("damaged archives end in an answer or an error, never otherwise")
  func fuzz() throws {
    let folder = try TemporaryFolder()
    let seed = UInt64.random(in: 0...UInt64.max)
    let count = TestScale.count(2_500, ofAll: 20_000)
    let result = Fuzzing.run(try ContainerFuzzing.target(in: folder), count: count, seed: seed)
    #expect(result.inputs == count, "seed \(seed)")
    #expect(result.accepted > 0, "seed \(seed)")
    #expect(result.slowest < 1, "seed \(seed)")
  }

  @Test("the picker lists what is in one, and archives of a folder can be entered")
  func picker() async throws {
    let samples = try SampleContainers()
    let (path, inner) = try samples.make(.packedZip)
    let canonical = FileSystem.canonical(path)
    let (listing, peeks) = try #require(try ContainerReading.list(path))
    #expect(listing.entries.map(\.name) == [inner])
    #expect(listing.entries.map(\.path) == [canonical + "//" + inner])
    guard case .store(let entities)? = peeks[canonical + "//" + inner] else {
      Issue.record("\(peeks)")
      return
    }
    #expect(entities > 5)
    #expect(try ContainerReading.list(samples.folder.path) == nil)
    let folder = try FolderReading.list(samples.folder.path)
    let entry = try #require(folder.entries.first { $0.name == FileSystem.name(of: path) })
    #expect(entry.kind == .folder)
  }
}
