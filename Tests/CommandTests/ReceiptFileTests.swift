import Files
import ManagedModel
import TestSupport
import Testing

@testable import Commands

@Suite("Where a report is written")
struct ReceiptFileTests {
  @Test("the text lies beside the JSON, and neither replaces anything unasked")
  func pair() throws {
    let folder = try TemporaryFolder()
    let (path, beside) = (folder.path("a-report.json"), folder.path("a-report.txt"))
    let (json, text) = try ReceiptFile.pair(path: path, replaces: false)
    try json.write(Array("{}".utf8))
    try text.write(Array("words\n".utf8))
    #expect(try FileSystem.read(path) == Array("{}".utf8))
    #expect(try FileSystem.read(beside) == Array("words\n".utf8))
    FileSystem.remove(path)
    let error = #expect(throws: CoreDataError.self) {
      try ReceiptFile.pair(path: path, replaces: false)
    }
    #expect(error?.kind == .refused && error?.path == beside)
    #expect(try ReceiptFile.pair(path: path, replaces: true).text.path == beside)
    #expect(
      try ReceiptFile.pair(path: folder.path("notes.txt"), replaces: false).text.path
        == folder.path("notes.txt.txt"))
  }
}
