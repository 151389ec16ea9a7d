import Testing

@testable import Interface

@Suite("The README and the articles of the program")
struct ReadmeTests {
  @Test("the table of keys is the one that input goes by")
  func keys() throws {
    let path = Snapshot.article("Keys")
    let text = try #require(Snapshot.read(path))
    let (start, end) = ("<!-- keys -->\n", "<!-- /keys -->")
    let head = try #require(text.range(of: start))
    let tail = try #require(text.range(of: end))
    let table = Keymap.markdown() + "\n"
    if Snapshot.isRecording {
      try Snapshot.write(text[..<head.upperBound] + table + text[tail.lowerBound...], to: path)
    } else {
      #expect(text[head.upperBound..<tail.lowerBound] == table)
    }
  }

  @Test("every module that the package has is named")
  func modules() throws {
    let text = try #require(Snapshot.read(Snapshot.article("HowItIsMade")))
    let manifest = try #require(Snapshot.read(Snapshot.package + "/Package.swift"))
    // A dependency that only some systems have is no module of its own.
    let names = manifest.split(separator: "\n").joined()
      .replacing(#/\.target\(name: "[^"]*", condition:/#, with: "")
      .split(separator: "arget(").dropFirst()
      .compactMap { part -> Substring? in
        let words = part.split(separator: "\"", maxSplits: 2)
        guard words.count == 3, words[0].allSatisfy({ $0 == " " || "name:".contains($0) }) else {
          return nil
        }
        return part.contains("path: \"Tests") || words[1].hasSuffix("Tests") ? nil : words[1]
      }
    #expect(names.count > 10)
    for name in names { #expect(text.contains("`\(name)`"), "\(name)") }
  }

  @Test("the program for the libraries has the lines that ClientTests compile and run")
  func program() throws {
    let text = try #require(Snapshot.read(Snapshot.package + "/README.md"))
    let client = try #require(
      Snapshot.read(Snapshot.package + "/Tests/ClientTests/ClientProgramTests.swift"))
    let compiled = Set(client.split(separator: "\n").map { $0.drop { $0 == " " } })
    let block = text.split(separator: "\n").drop { $0 != "```swift" }.dropFirst().prefix {
      $0 != "```"
    }
    let lines = block.filter { $0.hasPrefix("let target") || $0.contains("= try StoreMigration.") }
    #expect(lines.count == 3)
    for line in lines { #expect(compiled.contains(line), "\(line)") }
  }

  @Test("every article is linked to, and every link leads to a file")
  func links() throws {
    let text = try #require(Snapshot.read(Snapshot.package + "/README.md"))
    let links = text.split(separator: "](").dropFirst().compactMap { part in
      part.split(separator: ")", maxSplits: 1).first
    }.filter { $0.hasSuffix(".md") }
    for link in links {
      #expect(Snapshot.read(Snapshot.package + "/" + link) != nil, "\(link)")
    }
    let contents = try #require(Snapshot.read(Snapshot.article("strata")))
    let names = contents.split(separator: "<doc:").dropFirst().compactMap { part in
      part.split(separator: ">", maxSplits: 1).first
    }
    #expect(names.count > 10)
    for name in names {
      #expect(links.contains { $0.hasSuffix("strata.docc/\(name).md") }, "\(name)")
    }
  }
}

extension String {
  /// The first occurrence of a text; the standard library alone has no search.
  fileprivate func range(of text: String) -> Range<Index>? {
    indices.first { self[$0...].hasPrefix(text) }
      .map { $0..<index($0, offsetBy: text.count) }
  }
}
