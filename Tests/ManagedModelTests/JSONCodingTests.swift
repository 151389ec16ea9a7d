import JSON
import Testing

@Suite("values as JSON")
struct JSONCodingTests {
  private struct Part: Codable, Equatable {
    var name: String
    var size: Double?
  }

  private struct Whole: Codable, Equatable {
    var text = "a “b” \n\u{1F600}/"
    var flag = true
    var count = -5
    var ratio = 0.1
    var whole = 3.0
    var none: String?
    var list = [1, 2, 3]
    var set: Set<String> = ["x"]
    var parts = ["z": Part(name: "zz", size: nil), "a": Part(name: "aa", size: 1.5)]
  }

  @Test("a value comes back as it was")
  func roundTrip() throws {
    let bytes = try JSONEncoding.bytes(of: Whole())
    #expect(try JSONDecoding.value(Whole.self, from: bytes) == Whole())
  }

  @Test("members have a line each, in the order of their names")
  func form() throws {
    let bytes = try JSONEncoding.bytes(of: ["b": Part(name: "x", size: 2), "a": Part(name: "y")])
    #expect(
      String(decoding: bytes, as: UTF8.self) == """
        {
          "a": {
            "name": "y"
          },
          "b": {
            "name": "x",
            "size": 2
          }
        }
        """)
  }

  @Test(
    "what does not fit is an error that says where",
    arguments: [
      (#"{"name": 5}"#, ["name"]), (#"{"name": "x", "size": "2"}"#, ["size"]), ("{}", []),
      ("[1]", []),
    ])
  func mistakes(json: String, path: [String]) {
    let error = #expect(throws: DecodingError.self) {
      try JSONDecoding.value(Part.self, from: Array(json.utf8))
    }
    switch error {
    case .typeMismatch(_, let context), .keyNotFound(_, let context):
      #expect(context.codingPath.map(\.stringValue) == path)
    default: Issue.record("\(String(describing: error))")
    }
  }

  @Test("a number that does not fit is an error, one with nothing behind its point fits")
  func numbers() throws {
    #expect(throws: DecodingError.self) {
      try JSONDecoding.value([UInt8].self, from: Array("[256]".utf8))
    }
    #expect(throws: DecodingError.self) {
      try JSONDecoding.value([Int].self, from: Array("[1.5]".utf8))
    }
    #expect(try JSONDecoding.value([Int].self, from: Array("[4.0, // four\n]".utf8)) == [4])
  }

  @Test("what is no JSON is told as that")
  func text() {
    #expect(throws: JSON5Mistake.self) { try JSONDecoding.value(Part.self, from: Array("{".utf8)) }
  }
}
