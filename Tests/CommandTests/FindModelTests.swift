import Files
import ModelSearch
import ModelWriting
import SQLite
import TestSupport
import Testing

@testable import Commands
@testable import ManagedStore

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

@Suite("Finding the model of a store")
struct FindModelTests {
  private let folder: TemporaryFolder
  private let store: String
  private let file = "App/Notes.xcdatamodeld/Notes 1.xcdatamodel/contents"

  private static func model(_ attribute: String) -> String {
    """
    <model><entity name="Note"><attribute name="\(attribute)" attributeType="String"/></entity>
    <entity name="Tag"><attribute name="name" attributeType="String"/></entity></model>
    """
  }

  init() throws {
    folder = try TemporaryFolder()
    store = folder.path("Notes.sqlite")
    try StoreCreation.create(
      at: store, model: Model(contents: Array(Self.model("text").utf8)), uuid: "A")
  }

  private struct Answer: Decodable {
    struct Commit: Decodable { let id, date, subject: String }
    struct Git: Decodable {
      let blob: String
      let isCurrent: Bool
      let first, last: Commit?
    }
    struct Found: Decodable {
      let name, kind, path: String
      let git: Git?
      let matching, differing: [String]
    }
    let found: Bool
    let matches: [Found]
    let nearest: Found?
    let exported: String?
    let searched: [String: Int]
    let notes: [String]
  }

  @Test(
    "a model that was edited later without a new version is found in git history",
    .enabled(if: GitRepository.isAvailable, "git is not installed"))
  func history() throws {
    let repository = try GitRepository(at: folder.path("project"))
    let first = try repository.commit(file, Self.model("text"), "Add the model")
    let last = try repository.commit("README", "notes", "Say what it is")
    try repository.commit(file, Self.model("body"), "Rename text to body, without a version")
    let before = try repository.run("rev-parse", "HEAD")
    let told = Captured(
      "find-model", store, repository.path + "/App", "--export", folder.path("out"), "--json")
    #expect(told.status == .done, "\(told.err)")
    let answer = try told.decoded(Answer.self)
    #expect(answer.found && answer.matches.map(\.kind) == ["git"])
    let found = try #require(answer.matches.first)
    #expect(found.name == "Notes 1" && found.path == file && found.git?.isCurrent == false)
    #expect(found.git?.first?.id == first && found.git?.first?.subject == "Add the model")
    #expect(found.git?.last?.id == last)
    // The very bytes of the version found.
    let exported = try #require(answer.exported)
    #expect(
      try FileSystem.read(exported + "/contents") == Array(Self.model("text").utf8))
    #expect(try repository.run("rev-parse", "HEAD") == before)
    #expect(try repository.run("status", "--porcelain") == "")
    // Nothing is ever written over.
    #expect(
      Captured("find-model", store, repository.path, "--export", folder.path("out")).status
        == .refused)
    let text = Captured("find-model", store, repository.path)
    #expect(text.out.contains("Add the model") && text.out.contains(first.prefix(12)))
  }

  @Test(
    "branches, merges and odd subjects are looked through, and a bare repository too",
    .enabled(if: GitRepository.isAvailable, "git is not installed"))
  func branches() throws {
    let repository = try GitRepository(at: folder.path("project"))
    try repository.commit(file, Self.model("body"), "Main")
    try repository.run("checkout", "-q", "-b", "side")
    let side = try repository.commit(file, Self.model("text"), "Odd \u{1B}[2J subject")
    try repository.run("checkout", "-q", "main")
    try repository.commit("README", "x", "More")
    try repository.run("merge", "-q", "-s", "ours", "-m", "Merge, and drop it", "side")
    try repository.run("branch", "-q", "-D", "side")
    let answer = try Captured("find-model", store, repository.path, "--json").decoded(Answer.self)
    #expect(answer.matches.first?.git?.first?.id == side)
    #expect(answer.matches.first?.git?.last?.id == side)
    let text = Captured("find-model", store, repository.path)
    #expect(!text.out.utf8.contains(0x1B))
    let bare = folder.path("bare.git")
    try repository.run("clone", "-q", "--bare", repository.path, bare)
    #expect(Captured("find-model", store, bare).status == .done)
  }

  @Test(
    "nothing that a repository's configuration names is run, and missing content is passed over",
    .enabled(if: GitRepository.isAvailable, "git is not installed"))
  func hostile() throws {
    let repository = try GitRepository(at: folder.path("project"))
    try repository.commit(file, Self.model("text"), "First")
    try repository.commit(file, Self.model("body"), "Second")
    let trap = folder.path("trapped")
    let script = folder.path("trap.sh")
    try OtherProgram.write(script: "#!/bin/sh\ntouch '\(trap)'\n", to: script)
    for key in [
      "core.fsmonitor", "core.pager", "diff.external", "gpg.program", "core.sshCommand",
      "diff.x.textconv", "core.editor", "core.hooksPath", "remote.origin.uploadpack",
    ] { try repository.run("config", key, script) }
    try repository.run("config", "log.showSignature", "true")
    try repository.run("config", "remote.origin.url", repository.path)
    try repository.run("config", "remote.origin.promisor", "true")
    try repository.run("config", "extensions.partialClone", "origin")
    try repository.run("config", "core.repositoryFormatVersion", "1")
    try repository.run("config", "protocol.file.allow", "always")
    try FileSystem.write(
      Array("*.mom diff=x\ncontents diff=x\n".utf8),
      to: repository.path + "/.gitattributes")
    let blob = try repository.run("rev-parse", "HEAD:" + file)
    FileSystem.remove(repository.path + "/.git/objects/\(blob.prefix(2))/\(blob.dropFirst(2))")
    let answer = try Captured("find-model", store, repository.path, "--json").decoded(Answer.self)
    #expect(FileSystem.status(trap) == nil)
    #expect(answer.matches.map(\.git?.first?.subject) == ["First"], "\(answer.notes)")
  }

  @Test(
    "two thousand commits are looked through",
    .enabled(if: GitRepository.isAvailable, "git is not installed"))
  func many() throws {
    let repository = try GitRepository(at: folder.path("project"))
    var stream = ""
    for index in 0..<2000 {
      let text = Self.model(index == 700 ? "text" : "a\(index)")
      stream += """
        commit refs/heads/main
        committer Ann <ann@example.com> \(1_700_000_000 + index) +0000
        data <<END
        Change \(index)
        END
        M 100644 inline App/N.xcdatamodel/contents
        data \(text.utf8.count)
        \(text)

        """
    }
    try repository.run("fast-import", "--quiet", input: Array(stream.utf8))
    let clock = ContinuousClock()
    var told: Captured?
    let time = clock.measure { told = Captured("find-model", store, repository.path, "--json") }
    let answer = try #require(told).decoded(Answer.self)
    #expect(answer.matches.count == 1 && answer.matches[0].git?.first?.subject == "Change 700")
    #expect(answer.matches[0].git?.last?.subject == "Change 700")
    #expect(answer.searched["versionsInHistory"] == 2000)
    // A guard against hanging: most of the time is git's, which nothing but a clock can measure.
    #expect(time < .seconds(Patience.seconds), "\(time)")
  }

  @Test("folders, bundles, apps and other stores are looked through; links end")
  func folders() throws {
    let model = try Model(contents: Array(Self.model("text").utf8))
    let app = folder.path("Payload/Notes.app")
    try FileSystem.makeDirectory(app + "/Notes.momd")
    try FileSystem.write(model.archived(), to: app + "/Notes.momd/Notes 2.mom")
    try FileSystem.write([1, 2, 3], to: app + "/Notes.momd/Broken.mom")
    try FileSystem.copyOver(store, to: app + "/Seed.sqlite")
    try #require(symbolicLink(app + "/loop", to: folder.path))
    let before = try folder.contents()
    let answer = try Captured("find-model", store, folder.path, "--json").decoded(Answer.self)
    #expect(Set(answer.matches.map(\.kind)) == ["file", "store"])
    #expect(answer.matches.count == 2)
    #expect(answer.matches.contains { $0.name == "Notes 2" })
    #expect(answer.notes.contains { $0.contains("Broken.mom") })
    #expect(try folder.contents() == before)
    let export = Captured("find-model", store, app + "/Notes.momd", "--export", folder.path)
    #expect(export.status == .done)
    let written = folder.path("Notes 2.xcdatamodel")
    #expect(try ModelReference(written).load().model.versionHashes == model.versionHashes)
  }

  @Test("no match names the nearest and what differs")
  func nearest() throws {
    let path = folder.path("Other.xcdatamodel")
    try FileSystem.makeDirectory(path)
    try FileSystem.write(Array(Self.model("body").utf8), to: path + "/contents")
    let answer = Captured("find-model", store, path, "--json")
    #expect(answer.status == .no)
    let found = try answer.decoded(Answer.self)
    #expect(!found.found && found.nearest?.name == "Other")
    #expect(found.nearest?.matching == ["Tag"] && found.nearest?.differing == ["Note"])
    let text = Captured("find-model", store, path)
    #expect(text.out.contains("1 of 2 entities fit") && text.out.contains("differing: Note"))
  }

  @Test("a model that shares nothing but a name is the nearest where nothing else is")
  func named() throws {
    let path = folder.path("Changed.xcdatamodel")
    try FileSystem.makeDirectory(path)
    let changed = """
      <model><entity name="Note"><attribute name="body" attributeType="String"/></entity></model>
      """
    try FileSystem.write(Array(changed.utf8), to: path + "/contents")
    let found = Captured("find-model", store, path)
    #expect(found.status == .no && !found.out.contains("none has an entity in common"))
    #expect(
      found.out.contains(
        "Changed shares names of entities with the store, and none of the 2 fits."),
      "\(found.out)")
    #expect(found.out.contains("differing: Note, Tag"))
    let other = folder.path("Other.xcdatamodel")
    try FileSystem.makeDirectory(other)
    try FileSystem.write(Array("<model><entity name=\"X\"/></model>".utf8), to: other + "/contents")
    #expect(Captured("find-model", store, other).out.contains("none has an entity in common"))
    // An equal hash goes before equal names.
    let near = folder.path("Near.xcdatamodel")
    try FileSystem.makeDirectory(near)
    try FileSystem.write(Array(Self.model("body").utf8), to: near + "/contents")
    for order in [[path, near], [near, path]] {
      #expect(Captured(["find-model", store] + order).out.contains("The nearest is Near"))
    }
  }

  @Test("the hashes in a pasted log are enough")
  func log() throws {
    let path = folder.path("Notes.xcdatamodel")
    try FileSystem.makeDirectory(path)
    try FileSystem.write(Array(Self.model("text").utf8), to: path + "/contents")
    let hashes = try ModelReference(path).load().model.versionHashes
    let entries = hashes.map { name, hash in
      "\(name) = {length = 32, bytes = 0x\(hash.hex.prefix(32)) ... \(hash.hex.suffix(16)) };"
    }
    let log = folder.path("error.txt")
    try FileSystem.write(
      Array(
        "Code=134100 UserInfo={metadata={NSStoreModelVersionHashes = { \(entries.joined()) };}}"
          .utf8), to: log)
    #expect(Captured("find-model", "--log", log, folder.path).status == .done)
    #expect(Captured("find-model", "--log", path + "/contents", folder.path).status == .unreadable)
  }

  @Test("wrong usage, and a machine without git")
  func bad() throws {
    #expect(Captured("find-model").status == .usage)
    #expect(Captured("find-model", store).status == .usage)
    #expect(Captured("find-model", store, folder.path("none")).status == .unreadable)
    var search = ModelSearch(hashes: [:], git: "no-such-program-anywhere")
    try search.look(in: folder.path)
    #expect(search.notes == ["git is not installed: no history was searched."])
  }
}
