import Files

#if os(Linux)
  import Glibc
  import ModelWriting
  import ManagedStore
  import TestSupport
  import Testing

  /// Files of more than SQLite, or memory, would hold; most of them holes.
  @Suite(
    "External data of any size", .serialized,
    .enabled(if: !Built.strata.isEmpty, "the program was not built"))
  struct LargeFileTests {
    private static let size = 1_200_000_000

    private static func model(_ extra: String) throws -> Model {
      try Model(
        contents: Array(
          """
          <model><entity name="Film"><attribute name="film" optional="YES" attributeType="Binary"
          allowsExternalBinaryDataStorage="YES"/>\(extra)</entity></model>
          """.utf8))
    }

    @Test(
      "is dumped, copied and verified in flat memory",
      .enabled(if: TestScale.isFull, "\(TestScale.condition)"))
    func flatMemory() throws {
      let folder = try TemporaryFolder()
      let store = folder.path("Films.sqlite")
      let model = try Self.model("")
      let writer = try StoreWriter(
        creating: store, model: model, uuid: "9F2C41D0-0000-4000-8000-000000000001")
      try writer.insert("Film", attributes: ["film": .bytes([UInt8](repeating: 1, count: 200_000))])
      try writer.finish()
      let data = StoreFiles(path: store).externalDataFolder
      let file = data + "/" + (try #require(try FileSystem.list(data).first))
      #expect(truncate(file, off_t(Self.size)) == 0)
      let next = folder.path("Next.xcdatamodel")
      try FileSystem.makeDirectory(next)
      let later = try Self.model(
        "<attribute name=\"title\" optional=\"YES\" attributeType=\"String\"/>")
      try FileSystem.write(Array(later.xcdatamodelContents().utf8), to: next + "/contents")

      func run(_ words: String...) throws -> ProgramRun {
        let run = try ProgramRun(
          [Built.strata] + words,
          environment: ["HOME": folder.path, "TMPDIR": folder.path], output: folder.path("output"),
          seconds: 300)
        // A child's peak begins with what its parent, all tests together, has held.
        let limit = Fuzzing.peakMemory + (300 << 20)
        #expect(run.peakBytes < limit, "\(words.first ?? ""): \(run.peakBytes >> 20) MB")
        return run
      }
      let dump = try run("dump", store)
      #expect(dump.status == 0)
      #expect(
        dump.text.contains("\"bytes\":\(Self.size),\"sha256\":\"\(try FileSystem.sha256(file))\""))
      let blobs = try run("dump", store, "--blobs")
      #expect(blobs.status == 0 && blobs.text.contains("is larger than 64 MB"), "\(blobs.text)")
      #expect(blobs.text.contains("\"bytes\":\(Self.size)"))
      let output = folder.path("Out.sqlite")
      let made = try run("migrate", store, "--to", next, "--output", output)
      #expect(made.status == 0, "\(made.text)")
      let copy = StoreFiles(path: output).externalDataFolder + "/" + FileSystem.name(of: file)
      #expect(FileSystem.status(copy)?.size == Self.size)
      #expect(FileSystem.allocated(copy) < 10 << 20)
      let same = try run("verify", store, output, "--to", next)
      #expect(same.status == 0, "\(same.text)")
      let descriptor = open(copy, O_WRONLY)
      #expect(pwrite(descriptor, "x", 1, off_t(Self.size - 1)) == 1)
      close(descriptor)
      let other = try run("verify", store, output, "--to", next)
      #expect(other.status == 1, "\(other.text)")
      #expect(other.text.contains("film"), "\(other.text)")
    }
  }
#endif
