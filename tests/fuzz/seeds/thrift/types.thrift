namespace py a.b
typedef map<i64, list<binary>> Rows
enum Kind { NONE = 0, SOME = 1; ALL }
struct Point { 1: required i32 x = 0x10, 2: optional double y = 1.5e-3; 3: i8 z }
union Shape { 1: Point point, 2: string text = "a\"b" }
exception Wrong { 1: string why }
const list<i32> NUMBERS = [1, 2, 3]
const map<string, Kind> KINDS = { "none": Kind.NONE, 'some': 1 }
const Point ORIGIN = { "x": 0, "z": 1 }
