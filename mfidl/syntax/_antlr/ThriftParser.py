# Generated from grammar/Thrift.g4 by ANTLR 4.13.2
# encoding: utf-8
from antlr4 import *
from io import StringIO
import sys
if sys.version_info[1] > 5:
	from typing import TextIO
else:
	from typing.io import TextIO

def serializedATN():
    return [
        4,1,52,319,2,0,7,0,2,1,7,1,2,2,7,2,2,3,7,3,2,4,7,4,2,5,7,5,2,6,7,
        6,2,7,7,7,2,8,7,8,2,9,7,9,2,10,7,10,2,11,7,11,1,0,5,0,26,8,0,10,
        0,12,0,29,9,0,1,0,1,0,1,1,1,1,1,1,3,1,36,8,1,3,1,38,8,1,1,2,1,2,
        1,2,1,2,1,2,1,2,1,2,1,2,1,2,5,2,49,8,2,10,2,12,2,52,9,2,3,2,54,8,
        2,1,2,1,2,1,2,1,2,5,2,60,8,2,10,2,12,2,63,9,2,3,2,65,8,2,1,2,3,2,
        68,8,2,1,2,1,2,1,2,3,2,73,8,2,3,2,75,8,2,1,3,1,3,1,3,1,3,1,3,1,3,
        1,3,1,3,1,3,1,3,3,3,87,8,3,1,3,1,3,1,3,1,3,5,3,93,8,3,10,3,12,3,
        96,9,3,1,3,1,3,3,3,100,8,3,1,3,1,3,1,3,1,3,1,3,3,3,107,8,3,5,3,109,
        8,3,10,3,12,3,112,9,3,1,3,1,3,3,3,116,8,3,1,3,1,3,1,3,3,3,121,8,
        3,1,3,1,3,5,3,125,8,3,10,3,12,3,128,9,3,1,3,1,3,3,3,132,8,3,1,3,
        1,3,1,3,1,3,3,3,138,8,3,1,3,1,3,5,3,142,8,3,10,3,12,3,145,9,3,1,
        3,1,3,3,3,149,8,3,3,3,151,8,3,1,4,1,4,1,4,3,4,156,8,4,1,4,3,4,159,
        8,4,1,4,3,4,162,8,4,1,5,1,5,3,5,166,8,5,1,5,3,5,169,8,5,1,5,1,5,
        3,5,173,8,5,1,5,1,5,1,5,3,5,178,8,5,1,5,3,5,181,8,5,1,5,3,5,184,
        8,5,1,5,1,5,1,5,5,5,189,8,5,10,5,12,5,192,9,5,1,5,3,5,195,8,5,1,
        5,3,5,198,8,5,1,5,3,5,201,8,5,1,6,3,6,204,8,6,1,6,1,6,3,6,208,8,
        6,1,6,3,6,211,8,6,1,6,1,6,1,6,5,6,216,8,6,10,6,12,6,219,9,6,1,6,
        1,6,1,6,1,6,5,6,225,8,6,10,6,12,6,228,9,6,1,6,3,6,231,8,6,1,6,3,
        6,234,8,6,1,6,3,6,237,8,6,1,7,1,7,1,7,3,7,242,8,7,1,7,1,7,1,7,1,
        7,1,7,1,7,1,7,1,7,3,7,252,8,7,1,7,1,7,1,7,1,7,3,7,258,8,7,3,7,260,
        8,7,1,7,3,7,263,8,7,1,8,1,8,1,8,1,9,1,9,1,9,1,9,1,9,1,9,3,9,274,
        8,9,5,9,276,8,9,10,9,12,9,279,9,9,1,9,1,9,1,9,1,9,1,9,1,9,3,9,287,
        8,9,5,9,289,8,9,10,9,12,9,292,9,9,1,9,3,9,295,8,9,1,10,1,10,1,10,
        1,10,1,10,1,10,3,10,303,8,10,3,10,305,8,10,1,10,3,10,308,8,10,5,
        10,310,8,10,10,10,12,10,313,9,10,1,10,1,10,1,11,1,11,1,11,0,0,12,
        0,2,4,6,8,10,12,14,16,18,20,22,0,7,1,0,41,42,1,0,9,11,1,0,14,15,
        1,0,16,17,1,0,21,22,1,0,29,30,2,0,1,22,28,28,375,0,27,1,0,0,0,2,
        37,1,0,0,0,4,74,1,0,0,0,6,150,1,0,0,0,8,152,1,0,0,0,10,165,1,0,0,
        0,12,203,1,0,0,0,14,259,1,0,0,0,16,264,1,0,0,0,18,294,1,0,0,0,20,
        296,1,0,0,0,22,316,1,0,0,0,24,26,3,2,1,0,25,24,1,0,0,0,26,29,1,0,
        0,0,27,25,1,0,0,0,27,28,1,0,0,0,28,30,1,0,0,0,29,27,1,0,0,0,30,31,
        5,0,0,1,31,1,1,0,0,0,32,38,3,4,2,0,33,35,3,6,3,0,34,36,7,0,0,0,35,
        34,1,0,0,0,35,36,1,0,0,0,36,38,1,0,0,0,37,32,1,0,0,0,37,33,1,0,0,
        0,38,3,1,0,0,0,39,40,5,1,0,0,40,75,5,31,0,0,41,42,5,2,0,0,42,75,
        5,31,0,0,43,53,5,3,0,0,44,54,5,44,0,0,45,50,3,22,11,0,46,47,5,46,
        0,0,47,49,3,22,11,0,48,46,1,0,0,0,49,52,1,0,0,0,50,48,1,0,0,0,50,
        51,1,0,0,0,51,54,1,0,0,0,52,50,1,0,0,0,53,44,1,0,0,0,53,45,1,0,0,
        0,54,64,1,0,0,0,55,65,5,31,0,0,56,61,3,22,11,0,57,58,5,46,0,0,58,
        60,3,22,11,0,59,57,1,0,0,0,60,63,1,0,0,0,61,59,1,0,0,0,61,62,1,0,
        0,0,62,65,1,0,0,0,63,61,1,0,0,0,64,55,1,0,0,0,64,56,1,0,0,0,65,67,
        1,0,0,0,66,68,3,20,10,0,67,66,1,0,0,0,67,68,1,0,0,0,68,75,1,0,0,
        0,69,72,5,4,0,0,70,73,5,31,0,0,71,73,3,22,11,0,72,70,1,0,0,0,72,
        71,1,0,0,0,73,75,1,0,0,0,74,39,1,0,0,0,74,41,1,0,0,0,74,43,1,0,0,
        0,74,69,1,0,0,0,75,5,1,0,0,0,76,77,5,5,0,0,77,78,3,14,7,0,78,79,
        3,22,11,0,79,80,5,43,0,0,80,81,3,18,9,0,81,151,1,0,0,0,82,83,5,6,
        0,0,83,84,3,14,7,0,84,86,3,22,11,0,85,87,3,20,10,0,86,85,1,0,0,0,
        86,87,1,0,0,0,87,151,1,0,0,0,88,89,5,7,0,0,89,90,3,22,11,0,90,94,
        5,32,0,0,91,93,3,8,4,0,92,91,1,0,0,0,93,96,1,0,0,0,94,92,1,0,0,0,
        94,95,1,0,0,0,95,97,1,0,0,0,96,94,1,0,0,0,97,99,5,33,0,0,98,100,
        3,20,10,0,99,98,1,0,0,0,99,100,1,0,0,0,100,151,1,0,0,0,101,102,5,
        8,0,0,102,103,3,22,11,0,103,110,5,32,0,0,104,106,5,31,0,0,105,107,
        7,0,0,0,106,105,1,0,0,0,106,107,1,0,0,0,107,109,1,0,0,0,108,104,
        1,0,0,0,109,112,1,0,0,0,110,108,1,0,0,0,110,111,1,0,0,0,111,113,
        1,0,0,0,112,110,1,0,0,0,113,115,5,33,0,0,114,116,3,20,10,0,115,114,
        1,0,0,0,115,116,1,0,0,0,116,151,1,0,0,0,117,118,7,1,0,0,118,120,
        3,22,11,0,119,121,5,24,0,0,120,119,1,0,0,0,120,121,1,0,0,0,121,122,
        1,0,0,0,122,126,5,32,0,0,123,125,3,10,5,0,124,123,1,0,0,0,125,128,
        1,0,0,0,126,124,1,0,0,0,126,127,1,0,0,0,127,129,1,0,0,0,128,126,
        1,0,0,0,129,131,5,33,0,0,130,132,3,20,10,0,131,130,1,0,0,0,131,132,
        1,0,0,0,132,151,1,0,0,0,133,134,5,12,0,0,134,137,3,22,11,0,135,136,
        5,13,0,0,136,138,3,22,11,0,137,135,1,0,0,0,137,138,1,0,0,0,138,139,
        1,0,0,0,139,143,5,32,0,0,140,142,3,12,6,0,141,140,1,0,0,0,142,145,
        1,0,0,0,143,141,1,0,0,0,143,144,1,0,0,0,144,146,1,0,0,0,145,143,
        1,0,0,0,146,148,5,33,0,0,147,149,3,20,10,0,148,147,1,0,0,0,148,149,
        1,0,0,0,149,151,1,0,0,0,150,76,1,0,0,0,150,82,1,0,0,0,150,88,1,0,
        0,0,150,101,1,0,0,0,150,117,1,0,0,0,150,133,1,0,0,0,151,7,1,0,0,
        0,152,155,3,22,11,0,153,154,5,43,0,0,154,156,5,30,0,0,155,153,1,
        0,0,0,155,156,1,0,0,0,156,158,1,0,0,0,157,159,3,20,10,0,158,157,
        1,0,0,0,158,159,1,0,0,0,159,161,1,0,0,0,160,162,7,0,0,0,161,160,
        1,0,0,0,161,162,1,0,0,0,162,9,1,0,0,0,163,164,5,30,0,0,164,166,5,
        40,0,0,165,163,1,0,0,0,165,166,1,0,0,0,166,168,1,0,0,0,167,169,7,
        2,0,0,168,167,1,0,0,0,168,169,1,0,0,0,169,170,1,0,0,0,170,172,3,
        14,7,0,171,173,5,45,0,0,172,171,1,0,0,0,172,173,1,0,0,0,173,174,
        1,0,0,0,174,177,3,22,11,0,175,176,5,43,0,0,176,178,3,18,9,0,177,
        175,1,0,0,0,177,178,1,0,0,0,178,180,1,0,0,0,179,181,5,25,0,0,180,
        179,1,0,0,0,180,181,1,0,0,0,181,183,1,0,0,0,182,184,5,26,0,0,183,
        182,1,0,0,0,183,184,1,0,0,0,184,194,1,0,0,0,185,186,5,27,0,0,186,
        190,5,32,0,0,187,189,3,10,5,0,188,187,1,0,0,0,189,192,1,0,0,0,190,
        188,1,0,0,0,190,191,1,0,0,0,191,193,1,0,0,0,192,190,1,0,0,0,193,
        195,5,33,0,0,194,185,1,0,0,0,194,195,1,0,0,0,195,197,1,0,0,0,196,
        198,3,20,10,0,197,196,1,0,0,0,197,198,1,0,0,0,198,200,1,0,0,0,199,
        201,7,0,0,0,200,199,1,0,0,0,200,201,1,0,0,0,201,11,1,0,0,0,202,204,
        7,3,0,0,203,202,1,0,0,0,203,204,1,0,0,0,204,210,1,0,0,0,205,207,
        5,18,0,0,206,208,3,20,10,0,207,206,1,0,0,0,207,208,1,0,0,0,208,211,
        1,0,0,0,209,211,3,14,7,0,210,205,1,0,0,0,210,209,1,0,0,0,211,212,
        1,0,0,0,212,213,3,22,11,0,213,217,5,34,0,0,214,216,3,10,5,0,215,
        214,1,0,0,0,216,219,1,0,0,0,217,215,1,0,0,0,217,218,1,0,0,0,218,
        220,1,0,0,0,219,217,1,0,0,0,220,230,5,35,0,0,221,222,5,19,0,0,222,
        226,5,34,0,0,223,225,3,10,5,0,224,223,1,0,0,0,225,228,1,0,0,0,226,
        224,1,0,0,0,226,227,1,0,0,0,227,229,1,0,0,0,228,226,1,0,0,0,229,
        231,5,35,0,0,230,221,1,0,0,0,230,231,1,0,0,0,231,233,1,0,0,0,232,
        234,3,20,10,0,233,232,1,0,0,0,233,234,1,0,0,0,234,236,1,0,0,0,235,
        237,7,0,0,0,236,235,1,0,0,0,236,237,1,0,0,0,237,13,1,0,0,0,238,260,
        5,28,0,0,239,241,5,20,0,0,240,242,3,16,8,0,241,240,1,0,0,0,241,242,
        1,0,0,0,242,243,1,0,0,0,243,244,5,36,0,0,244,245,3,14,7,0,245,246,
        5,42,0,0,246,247,3,14,7,0,247,248,5,37,0,0,248,260,1,0,0,0,249,251,
        7,4,0,0,250,252,3,16,8,0,251,250,1,0,0,0,251,252,1,0,0,0,252,253,
        1,0,0,0,253,254,5,36,0,0,254,255,3,14,7,0,255,257,5,37,0,0,256,258,
        3,16,8,0,257,256,1,0,0,0,257,258,1,0,0,0,258,260,1,0,0,0,259,238,
        1,0,0,0,259,239,1,0,0,0,259,249,1,0,0,0,260,262,1,0,0,0,261,263,
        3,20,10,0,262,261,1,0,0,0,262,263,1,0,0,0,263,15,1,0,0,0,264,265,
        5,23,0,0,265,266,5,31,0,0,266,17,1,0,0,0,267,295,7,5,0,0,268,295,
        5,31,0,0,269,295,3,22,11,0,270,277,5,38,0,0,271,273,3,18,9,0,272,
        274,7,0,0,0,273,272,1,0,0,0,273,274,1,0,0,0,274,276,1,0,0,0,275,
        271,1,0,0,0,276,279,1,0,0,0,277,275,1,0,0,0,277,278,1,0,0,0,278,
        280,1,0,0,0,279,277,1,0,0,0,280,295,5,39,0,0,281,290,5,32,0,0,282,
        283,3,18,9,0,283,284,5,40,0,0,284,286,3,18,9,0,285,287,7,0,0,0,286,
        285,1,0,0,0,286,287,1,0,0,0,287,289,1,0,0,0,288,282,1,0,0,0,289,
        292,1,0,0,0,290,288,1,0,0,0,290,291,1,0,0,0,291,293,1,0,0,0,292,
        290,1,0,0,0,293,295,5,33,0,0,294,267,1,0,0,0,294,268,1,0,0,0,294,
        269,1,0,0,0,294,270,1,0,0,0,294,281,1,0,0,0,295,19,1,0,0,0,296,311,
        5,34,0,0,297,304,3,22,11,0,298,302,5,43,0,0,299,303,5,31,0,0,300,
        303,5,30,0,0,301,303,3,22,11,0,302,299,1,0,0,0,302,300,1,0,0,0,302,
        301,1,0,0,0,303,305,1,0,0,0,304,298,1,0,0,0,304,305,1,0,0,0,305,
        307,1,0,0,0,306,308,7,0,0,0,307,306,1,0,0,0,307,308,1,0,0,0,308,
        310,1,0,0,0,309,297,1,0,0,0,310,313,1,0,0,0,311,309,1,0,0,0,311,
        312,1,0,0,0,312,314,1,0,0,0,313,311,1,0,0,0,314,315,5,35,0,0,315,
        21,1,0,0,0,316,317,7,6,0,0,317,23,1,0,0,0,58,27,35,37,50,53,61,64,
        67,72,74,86,94,99,106,110,115,120,126,131,137,143,148,150,155,158,
        161,165,168,172,177,180,183,190,194,197,200,203,207,210,217,226,
        230,233,236,241,251,257,259,262,273,277,286,290,294,302,304,307,
        311
    ]

class ThriftParser ( Parser ):

    grammarFileName = "Thrift.g4"

    atn = ATNDeserializer().deserialize(serializedATN())

    decisionsToDFA = [ DFA(ds, i) for i, ds in enumerate(atn.decisionToState) ]

    sharedContextCache = PredictionContextCache()

    literalNames = [ "<INVALID>", "'include'", "'cpp_include'", "'namespace'", 
                     "<INVALID>", "'const'", "'typedef'", "'enum'", "'senum'", 
                     "'struct'", "'union'", "'exception'", "'service'", 
                     "'extends'", "'required'", "'optional'", "'oneway'", 
                     "'async'", "'void'", "'throws'", "'map'", "'list'", 
                     "'set'", "'cpp_type'", "'xsd_all'", "'xsd_optional'", 
                     "'xsd_nillable'", "'xsd_attrs'", "<INVALID>", "<INVALID>", 
                     "<INVALID>", "<INVALID>", "'{'", "'}'", "'('", "')'", 
                     "'<'", "'>'", "'['", "']'", "':'", "';'", "','", "'='", 
                     "'*'", "'&'", "'-'" ]

    symbolicNames = [ "<INVALID>", "INCLUDE", "CPP_INCLUDE", "NAMESPACE", 
                      "OLD_NAMESPACE", "CONST", "TYPEDEF", "ENUM", "SENUM", 
                      "STRUCT", "UNION", "EXCEPTION", "SERVICE", "EXTENDS", 
                      "REQUIRED", "OPTIONAL", "ONEWAY", "ASYNC", "VOID", 
                      "THROWS", "MAP", "LIST", "SET", "CPP_TYPE", "XSD_ALL", 
                      "XSD_OPTIONAL", "XSD_NILLABLE", "XSD_ATTRS", "NAME", 
                      "FLOAT", "INTEGER", "STRING", "OPEN", "CLOSE", "LPAREN", 
                      "RPAREN", "LESS", "GREATER", "LBRACKET", "RBRACKET", 
                      "COLON", "SEMICOLON", "COMMA", "ASSIGN", "STAR", "AMPERSAND", 
                      "MINUS", "LINE_COMMENT", "BLOCK_COMMENT", "SPACE", 
                      "BAD_STRING", "OPEN_COMMENT", "BAD" ]

    RULE_file = 0
    RULE_part = 1
    RULE_header = 2
    RULE_definition = 3
    RULE_enumMember = 4
    RULE_field = 5
    RULE_function = 6
    RULE_type = 7
    RULE_cppType = 8
    RULE_constant = 9
    RULE_annotations = 10
    RULE_name = 11

    ruleNames =  [ "file", "part", "header", "definition", "enumMember", 
                   "field", "function", "type", "cppType", "constant", "annotations", 
                   "name" ]

    EOF = Token.EOF
    INCLUDE=1
    CPP_INCLUDE=2
    NAMESPACE=3
    OLD_NAMESPACE=4
    CONST=5
    TYPEDEF=6
    ENUM=7
    SENUM=8
    STRUCT=9
    UNION=10
    EXCEPTION=11
    SERVICE=12
    EXTENDS=13
    REQUIRED=14
    OPTIONAL=15
    ONEWAY=16
    ASYNC=17
    VOID=18
    THROWS=19
    MAP=20
    LIST=21
    SET=22
    CPP_TYPE=23
    XSD_ALL=24
    XSD_OPTIONAL=25
    XSD_NILLABLE=26
    XSD_ATTRS=27
    NAME=28
    FLOAT=29
    INTEGER=30
    STRING=31
    OPEN=32
    CLOSE=33
    LPAREN=34
    RPAREN=35
    LESS=36
    GREATER=37
    LBRACKET=38
    RBRACKET=39
    COLON=40
    SEMICOLON=41
    COMMA=42
    ASSIGN=43
    STAR=44
    AMPERSAND=45
    MINUS=46
    LINE_COMMENT=47
    BLOCK_COMMENT=48
    SPACE=49
    BAD_STRING=50
    OPEN_COMMENT=51
    BAD=52

    def __init__(self, input:TokenStream, output:TextIO = sys.stdout):
        super().__init__(input, output)
        self.checkVersion("4.13.2")
        self._interp = ParserATNSimulator(self, self.atn, self.decisionsToDFA, self.sharedContextCache)
        self._predicates = None




    class FileContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self._part = None # PartContext
            self.parts = list() # of PartContexts

        def EOF(self):
            return self.getToken(ThriftParser.EOF, 0)

        def part(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(ThriftParser.PartContext)
            else:
                return self.getTypedRuleContext(ThriftParser.PartContext,i)


        def getRuleIndex(self):
            return ThriftParser.RULE_file




    def file_(self):

        localctx = ThriftParser.FileContext(self, self._ctx, self.state)
        self.enterRule(localctx, 0, self.RULE_file)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 27
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            while (((_la) & ~0x3f) == 0 and ((1 << _la) & 8190) != 0):
                self.state = 24
                localctx._part = self.part()
                localctx.parts.append(localctx._part)
                self.state = 29
                self._errHandler.sync(self)
                _la = self._input.LA(1)

            self.state = 30
            self.match(ThriftParser.EOF)
        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class PartContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self.statement = None # HeaderContext
            self.declaration = None # DefinitionContext

        def header(self):
            return self.getTypedRuleContext(ThriftParser.HeaderContext,0)


        def definition(self):
            return self.getTypedRuleContext(ThriftParser.DefinitionContext,0)


        def COMMA(self):
            return self.getToken(ThriftParser.COMMA, 0)

        def SEMICOLON(self):
            return self.getToken(ThriftParser.SEMICOLON, 0)

        def getRuleIndex(self):
            return ThriftParser.RULE_part




    def part(self):

        localctx = ThriftParser.PartContext(self, self._ctx, self.state)
        self.enterRule(localctx, 2, self.RULE_part)
        self._la = 0 # Token type
        try:
            self.state = 37
            self._errHandler.sync(self)
            token = self._input.LA(1)
            if token in [1, 2, 3, 4]:
                self.enterOuterAlt(localctx, 1)
                self.state = 32
                localctx.statement = self.header()
                pass
            elif token in [5, 6, 7, 8, 9, 10, 11, 12]:
                self.enterOuterAlt(localctx, 2)
                self.state = 33
                localctx.declaration = self.definition()
                self.state = 35
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                if _la==41 or _la==42:
                    self.state = 34
                    _la = self._input.LA(1)
                    if not(_la==41 or _la==42):
                        self._errHandler.recoverInline(self)
                    else:
                        self._errHandler.reportMatch(self)
                        self.consume()


                pass
            else:
                raise NoViableAltException(self)

        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class HeaderContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self.target = None # Token

        def INCLUDE(self):
            return self.getToken(ThriftParser.INCLUDE, 0)

        def STRING(self):
            return self.getToken(ThriftParser.STRING, 0)

        def CPP_INCLUDE(self):
            return self.getToken(ThriftParser.CPP_INCLUDE, 0)

        def NAMESPACE(self):
            return self.getToken(ThriftParser.NAMESPACE, 0)

        def STAR(self):
            return self.getToken(ThriftParser.STAR, 0)

        def name(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(ThriftParser.NameContext)
            else:
                return self.getTypedRuleContext(ThriftParser.NameContext,i)


        def annotations(self):
            return self.getTypedRuleContext(ThriftParser.AnnotationsContext,0)


        def MINUS(self, i:int=None):
            if i is None:
                return self.getTokens(ThriftParser.MINUS)
            else:
                return self.getToken(ThriftParser.MINUS, i)

        def OLD_NAMESPACE(self):
            return self.getToken(ThriftParser.OLD_NAMESPACE, 0)

        def getRuleIndex(self):
            return ThriftParser.RULE_header




    def header(self):

        localctx = ThriftParser.HeaderContext(self, self._ctx, self.state)
        self.enterRule(localctx, 4, self.RULE_header)
        self._la = 0 # Token type
        try:
            self.state = 74
            self._errHandler.sync(self)
            token = self._input.LA(1)
            if token in [1]:
                self.enterOuterAlt(localctx, 1)
                self.state = 39
                self.match(ThriftParser.INCLUDE)
                self.state = 40
                localctx.target = self.match(ThriftParser.STRING)
                pass
            elif token in [2]:
                self.enterOuterAlt(localctx, 2)
                self.state = 41
                self.match(ThriftParser.CPP_INCLUDE)
                self.state = 42
                self.match(ThriftParser.STRING)
                pass
            elif token in [3]:
                self.enterOuterAlt(localctx, 3)
                self.state = 43
                self.match(ThriftParser.NAMESPACE)
                self.state = 53
                self._errHandler.sync(self)
                token = self._input.LA(1)
                if token in [44]:
                    self.state = 44
                    self.match(ThriftParser.STAR)
                    pass
                elif token in [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 28]:
                    self.state = 45
                    self.name()
                    self.state = 50
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)
                    while _la==46:
                        self.state = 46
                        self.match(ThriftParser.MINUS)
                        self.state = 47
                        self.name()
                        self.state = 52
                        self._errHandler.sync(self)
                        _la = self._input.LA(1)

                    pass
                else:
                    raise NoViableAltException(self)

                self.state = 64
                self._errHandler.sync(self)
                token = self._input.LA(1)
                if token in [31]:
                    self.state = 55
                    self.match(ThriftParser.STRING)
                    pass
                elif token in [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 28]:
                    self.state = 56
                    self.name()
                    self.state = 61
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)
                    while _la==46:
                        self.state = 57
                        self.match(ThriftParser.MINUS)
                        self.state = 58
                        self.name()
                        self.state = 63
                        self._errHandler.sync(self)
                        _la = self._input.LA(1)

                    pass
                else:
                    raise NoViableAltException(self)

                self.state = 67
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                if _la==34:
                    self.state = 66
                    self.annotations()


                pass
            elif token in [4]:
                self.enterOuterAlt(localctx, 4)
                self.state = 69
                self.match(ThriftParser.OLD_NAMESPACE)
                self.state = 72
                self._errHandler.sync(self)
                token = self._input.LA(1)
                if token in [31]:
                    self.state = 70
                    self.match(ThriftParser.STRING)
                    pass
                elif token in [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 28]:
                    self.state = 71
                    self.name()
                    pass
                else:
                    raise NoViableAltException(self)

                pass
            else:
                raise NoViableAltException(self)

        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class DefinitionContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser


        def getRuleIndex(self):
            return ThriftParser.RULE_definition

     
        def copyFrom(self, ctx:ParserRuleContext):
            super().copyFrom(ctx)



    class SenumContext(DefinitionContext):

        def __init__(self, parser, ctx:ParserRuleContext): # actually a ThriftParser.DefinitionContext
            super().__init__(parser)
            self.id_ = None # NameContext
            self.opening = None # Token
            self.copyFrom(ctx)

        def SENUM(self):
            return self.getToken(ThriftParser.SENUM, 0)
        def CLOSE(self):
            return self.getToken(ThriftParser.CLOSE, 0)
        def name(self):
            return self.getTypedRuleContext(ThriftParser.NameContext,0)

        def OPEN(self):
            return self.getToken(ThriftParser.OPEN, 0)
        def STRING(self, i:int=None):
            if i is None:
                return self.getTokens(ThriftParser.STRING)
            else:
                return self.getToken(ThriftParser.STRING, i)
        def annotations(self):
            return self.getTypedRuleContext(ThriftParser.AnnotationsContext,0)

        def COMMA(self, i:int=None):
            if i is None:
                return self.getTokens(ThriftParser.COMMA)
            else:
                return self.getToken(ThriftParser.COMMA, i)
        def SEMICOLON(self, i:int=None):
            if i is None:
                return self.getTokens(ThriftParser.SEMICOLON)
            else:
                return self.getToken(ThriftParser.SEMICOLON, i)


    class StructContext(DefinitionContext):

        def __init__(self, parser, ctx:ParserRuleContext): # actually a ThriftParser.DefinitionContext
            super().__init__(parser)
            self.kind = None # Token
            self.id_ = None # NameContext
            self.opening = None # Token
            self._field = None # FieldContext
            self.fields = list() # of FieldContexts
            self.copyFrom(ctx)

        def CLOSE(self):
            return self.getToken(ThriftParser.CLOSE, 0)
        def name(self):
            return self.getTypedRuleContext(ThriftParser.NameContext,0)

        def OPEN(self):
            return self.getToken(ThriftParser.OPEN, 0)
        def STRUCT(self):
            return self.getToken(ThriftParser.STRUCT, 0)
        def UNION(self):
            return self.getToken(ThriftParser.UNION, 0)
        def EXCEPTION(self):
            return self.getToken(ThriftParser.EXCEPTION, 0)
        def XSD_ALL(self):
            return self.getToken(ThriftParser.XSD_ALL, 0)
        def annotations(self):
            return self.getTypedRuleContext(ThriftParser.AnnotationsContext,0)

        def field(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(ThriftParser.FieldContext)
            else:
                return self.getTypedRuleContext(ThriftParser.FieldContext,i)



    class ConstContext(DefinitionContext):

        def __init__(self, parser, ctx:ParserRuleContext): # actually a ThriftParser.DefinitionContext
            super().__init__(parser)
            self.of = None # TypeContext
            self.id_ = None # NameContext
            self.init = None # ConstantContext
            self.copyFrom(ctx)

        def CONST(self):
            return self.getToken(ThriftParser.CONST, 0)
        def ASSIGN(self):
            return self.getToken(ThriftParser.ASSIGN, 0)
        def type_(self):
            return self.getTypedRuleContext(ThriftParser.TypeContext,0)

        def name(self):
            return self.getTypedRuleContext(ThriftParser.NameContext,0)

        def constant(self):
            return self.getTypedRuleContext(ThriftParser.ConstantContext,0)



    class ServiceContext(DefinitionContext):

        def __init__(self, parser, ctx:ParserRuleContext): # actually a ThriftParser.DefinitionContext
            super().__init__(parser)
            self.id_ = None # NameContext
            self.base = None # NameContext
            self.opening = None # Token
            self._function = None # FunctionContext
            self.functions = list() # of FunctionContexts
            self.copyFrom(ctx)

        def SERVICE(self):
            return self.getToken(ThriftParser.SERVICE, 0)
        def CLOSE(self):
            return self.getToken(ThriftParser.CLOSE, 0)
        def name(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(ThriftParser.NameContext)
            else:
                return self.getTypedRuleContext(ThriftParser.NameContext,i)

        def OPEN(self):
            return self.getToken(ThriftParser.OPEN, 0)
        def EXTENDS(self):
            return self.getToken(ThriftParser.EXTENDS, 0)
        def annotations(self):
            return self.getTypedRuleContext(ThriftParser.AnnotationsContext,0)

        def function(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(ThriftParser.FunctionContext)
            else:
                return self.getTypedRuleContext(ThriftParser.FunctionContext,i)



    class TypedefContext(DefinitionContext):

        def __init__(self, parser, ctx:ParserRuleContext): # actually a ThriftParser.DefinitionContext
            super().__init__(parser)
            self.of = None # TypeContext
            self.id_ = None # NameContext
            self.copyFrom(ctx)

        def TYPEDEF(self):
            return self.getToken(ThriftParser.TYPEDEF, 0)
        def type_(self):
            return self.getTypedRuleContext(ThriftParser.TypeContext,0)

        def name(self):
            return self.getTypedRuleContext(ThriftParser.NameContext,0)

        def annotations(self):
            return self.getTypedRuleContext(ThriftParser.AnnotationsContext,0)



    class EnumContext(DefinitionContext):

        def __init__(self, parser, ctx:ParserRuleContext): # actually a ThriftParser.DefinitionContext
            super().__init__(parser)
            self.id_ = None # NameContext
            self.opening = None # Token
            self._enumMember = None # EnumMemberContext
            self.members = list() # of EnumMemberContexts
            self.copyFrom(ctx)

        def ENUM(self):
            return self.getToken(ThriftParser.ENUM, 0)
        def CLOSE(self):
            return self.getToken(ThriftParser.CLOSE, 0)
        def name(self):
            return self.getTypedRuleContext(ThriftParser.NameContext,0)

        def OPEN(self):
            return self.getToken(ThriftParser.OPEN, 0)
        def annotations(self):
            return self.getTypedRuleContext(ThriftParser.AnnotationsContext,0)

        def enumMember(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(ThriftParser.EnumMemberContext)
            else:
                return self.getTypedRuleContext(ThriftParser.EnumMemberContext,i)




    def definition(self):

        localctx = ThriftParser.DefinitionContext(self, self._ctx, self.state)
        self.enterRule(localctx, 6, self.RULE_definition)
        self._la = 0 # Token type
        try:
            self.state = 150
            self._errHandler.sync(self)
            token = self._input.LA(1)
            if token in [5]:
                localctx = ThriftParser.ConstContext(self, localctx)
                self.enterOuterAlt(localctx, 1)
                self.state = 76
                self.match(ThriftParser.CONST)
                self.state = 77
                localctx.of = self.type_()
                self.state = 78
                localctx.id_ = self.name()
                self.state = 79
                self.match(ThriftParser.ASSIGN)
                self.state = 80
                localctx.init = self.constant()
                pass
            elif token in [6]:
                localctx = ThriftParser.TypedefContext(self, localctx)
                self.enterOuterAlt(localctx, 2)
                self.state = 82
                self.match(ThriftParser.TYPEDEF)
                self.state = 83
                localctx.of = self.type_()
                self.state = 84
                localctx.id_ = self.name()
                self.state = 86
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                if _la==34:
                    self.state = 85
                    self.annotations()


                pass
            elif token in [7]:
                localctx = ThriftParser.EnumContext(self, localctx)
                self.enterOuterAlt(localctx, 3)
                self.state = 88
                self.match(ThriftParser.ENUM)
                self.state = 89
                localctx.id_ = self.name()
                self.state = 90
                localctx.opening = self.match(ThriftParser.OPEN)
                self.state = 94
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                while (((_la) & ~0x3f) == 0 and ((1 << _la) & 276824062) != 0):
                    self.state = 91
                    localctx._enumMember = self.enumMember()
                    localctx.members.append(localctx._enumMember)
                    self.state = 96
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)

                self.state = 97
                self.match(ThriftParser.CLOSE)
                self.state = 99
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                if _la==34:
                    self.state = 98
                    self.annotations()


                pass
            elif token in [8]:
                localctx = ThriftParser.SenumContext(self, localctx)
                self.enterOuterAlt(localctx, 4)
                self.state = 101
                self.match(ThriftParser.SENUM)
                self.state = 102
                localctx.id_ = self.name()
                self.state = 103
                localctx.opening = self.match(ThriftParser.OPEN)
                self.state = 110
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                while _la==31:
                    self.state = 104
                    self.match(ThriftParser.STRING)
                    self.state = 106
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)
                    if _la==41 or _la==42:
                        self.state = 105
                        _la = self._input.LA(1)
                        if not(_la==41 or _la==42):
                            self._errHandler.recoverInline(self)
                        else:
                            self._errHandler.reportMatch(self)
                            self.consume()


                    self.state = 112
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)

                self.state = 113
                self.match(ThriftParser.CLOSE)
                self.state = 115
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                if _la==34:
                    self.state = 114
                    self.annotations()


                pass
            elif token in [9, 10, 11]:
                localctx = ThriftParser.StructContext(self, localctx)
                self.enterOuterAlt(localctx, 5)
                self.state = 117
                localctx.kind = self._input.LT(1)
                _la = self._input.LA(1)
                if not((((_la) & ~0x3f) == 0 and ((1 << _la) & 3584) != 0)):
                    localctx.kind = self._errHandler.recoverInline(self)
                else:
                    self._errHandler.reportMatch(self)
                    self.consume()
                self.state = 118
                localctx.id_ = self.name()
                self.state = 120
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                if _la==24:
                    self.state = 119
                    self.match(ThriftParser.XSD_ALL)


                self.state = 122
                localctx.opening = self.match(ThriftParser.OPEN)
                self.state = 126
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                while (((_la) & ~0x3f) == 0 and ((1 << _la) & 1349566464) != 0):
                    self.state = 123
                    localctx._field = self.field()
                    localctx.fields.append(localctx._field)
                    self.state = 128
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)

                self.state = 129
                self.match(ThriftParser.CLOSE)
                self.state = 131
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                if _la==34:
                    self.state = 130
                    self.annotations()


                pass
            elif token in [12]:
                localctx = ThriftParser.ServiceContext(self, localctx)
                self.enterOuterAlt(localctx, 6)
                self.state = 133
                self.match(ThriftParser.SERVICE)
                self.state = 134
                localctx.id_ = self.name()
                self.state = 137
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                if _la==13:
                    self.state = 135
                    self.match(ThriftParser.EXTENDS)
                    self.state = 136
                    localctx.base = self.name()


                self.state = 139
                localctx.opening = self.match(ThriftParser.OPEN)
                self.state = 143
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                while (((_la) & ~0x3f) == 0 and ((1 << _la) & 276234240) != 0):
                    self.state = 140
                    localctx._function = self.function()
                    localctx.functions.append(localctx._function)
                    self.state = 145
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)

                self.state = 146
                self.match(ThriftParser.CLOSE)
                self.state = 148
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                if _la==34:
                    self.state = 147
                    self.annotations()


                pass
            else:
                raise NoViableAltException(self)

        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class EnumMemberContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self.id_ = None # NameContext
            self.number = None # Token

        def name(self):
            return self.getTypedRuleContext(ThriftParser.NameContext,0)


        def ASSIGN(self):
            return self.getToken(ThriftParser.ASSIGN, 0)

        def annotations(self):
            return self.getTypedRuleContext(ThriftParser.AnnotationsContext,0)


        def INTEGER(self):
            return self.getToken(ThriftParser.INTEGER, 0)

        def COMMA(self):
            return self.getToken(ThriftParser.COMMA, 0)

        def SEMICOLON(self):
            return self.getToken(ThriftParser.SEMICOLON, 0)

        def getRuleIndex(self):
            return ThriftParser.RULE_enumMember




    def enumMember(self):

        localctx = ThriftParser.EnumMemberContext(self, self._ctx, self.state)
        self.enterRule(localctx, 8, self.RULE_enumMember)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 152
            localctx.id_ = self.name()
            self.state = 155
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            if _la==43:
                self.state = 153
                self.match(ThriftParser.ASSIGN)
                self.state = 154
                localctx.number = self.match(ThriftParser.INTEGER)


            self.state = 158
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            if _la==34:
                self.state = 157
                self.annotations()


            self.state = 161
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            if _la==41 or _la==42:
                self.state = 160
                _la = self._input.LA(1)
                if not(_la==41 or _la==42):
                    self._errHandler.recoverInline(self)
                else:
                    self._errHandler.reportMatch(self)
                    self.consume()


        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class FieldContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self.number = None # Token
            self.need = None # Token
            self.of = None # TypeContext
            self.id_ = None # NameContext
            self.init = None # ConstantContext

        def type_(self):
            return self.getTypedRuleContext(ThriftParser.TypeContext,0)


        def name(self):
            return self.getTypedRuleContext(ThriftParser.NameContext,0)


        def COLON(self):
            return self.getToken(ThriftParser.COLON, 0)

        def AMPERSAND(self):
            return self.getToken(ThriftParser.AMPERSAND, 0)

        def ASSIGN(self):
            return self.getToken(ThriftParser.ASSIGN, 0)

        def XSD_OPTIONAL(self):
            return self.getToken(ThriftParser.XSD_OPTIONAL, 0)

        def XSD_NILLABLE(self):
            return self.getToken(ThriftParser.XSD_NILLABLE, 0)

        def XSD_ATTRS(self):
            return self.getToken(ThriftParser.XSD_ATTRS, 0)

        def OPEN(self):
            return self.getToken(ThriftParser.OPEN, 0)

        def CLOSE(self):
            return self.getToken(ThriftParser.CLOSE, 0)

        def annotations(self):
            return self.getTypedRuleContext(ThriftParser.AnnotationsContext,0)


        def INTEGER(self):
            return self.getToken(ThriftParser.INTEGER, 0)

        def constant(self):
            return self.getTypedRuleContext(ThriftParser.ConstantContext,0)


        def COMMA(self):
            return self.getToken(ThriftParser.COMMA, 0)

        def SEMICOLON(self):
            return self.getToken(ThriftParser.SEMICOLON, 0)

        def REQUIRED(self):
            return self.getToken(ThriftParser.REQUIRED, 0)

        def OPTIONAL(self):
            return self.getToken(ThriftParser.OPTIONAL, 0)

        def field(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(ThriftParser.FieldContext)
            else:
                return self.getTypedRuleContext(ThriftParser.FieldContext,i)


        def getRuleIndex(self):
            return ThriftParser.RULE_field




    def field(self):

        localctx = ThriftParser.FieldContext(self, self._ctx, self.state)
        self.enterRule(localctx, 10, self.RULE_field)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 165
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            if _la==30:
                self.state = 163
                localctx.number = self.match(ThriftParser.INTEGER)
                self.state = 164
                self.match(ThriftParser.COLON)


            self.state = 168
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            if _la==14 or _la==15:
                self.state = 167
                localctx.need = self._input.LT(1)
                _la = self._input.LA(1)
                if not(_la==14 or _la==15):
                    localctx.need = self._errHandler.recoverInline(self)
                else:
                    self._errHandler.reportMatch(self)
                    self.consume()


            self.state = 170
            localctx.of = self.type_()
            self.state = 172
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            if _la==45:
                self.state = 171
                self.match(ThriftParser.AMPERSAND)


            self.state = 174
            localctx.id_ = self.name()
            self.state = 177
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            if _la==43:
                self.state = 175
                self.match(ThriftParser.ASSIGN)
                self.state = 176
                localctx.init = self.constant()


            self.state = 180
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            if _la==25:
                self.state = 179
                self.match(ThriftParser.XSD_OPTIONAL)


            self.state = 183
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            if _la==26:
                self.state = 182
                self.match(ThriftParser.XSD_NILLABLE)


            self.state = 194
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            if _la==27:
                self.state = 185
                self.match(ThriftParser.XSD_ATTRS)
                self.state = 186
                self.match(ThriftParser.OPEN)
                self.state = 190
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                while (((_la) & ~0x3f) == 0 and ((1 << _la) & 1349566464) != 0):
                    self.state = 187
                    self.field()
                    self.state = 192
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)

                self.state = 193
                self.match(ThriftParser.CLOSE)


            self.state = 197
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            if _la==34:
                self.state = 196
                self.annotations()


            self.state = 200
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            if _la==41 or _la==42:
                self.state = 199
                _la = self._input.LA(1)
                if not(_la==41 or _la==42):
                    self._errHandler.recoverInline(self)
                else:
                    self._errHandler.reportMatch(self)
                    self.consume()


        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class FunctionContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self.oneway = None # Token
            self.result = None # TypeContext
            self.id_ = None # NameContext
            self.opening = None # Token
            self._field = None # FieldContext
            self.parameters = list() # of FieldContexts
            self.closing = None # Token
            self.errors = list() # of FieldContexts

        def name(self):
            return self.getTypedRuleContext(ThriftParser.NameContext,0)


        def LPAREN(self, i:int=None):
            if i is None:
                return self.getTokens(ThriftParser.LPAREN)
            else:
                return self.getToken(ThriftParser.LPAREN, i)

        def RPAREN(self, i:int=None):
            if i is None:
                return self.getTokens(ThriftParser.RPAREN)
            else:
                return self.getToken(ThriftParser.RPAREN, i)

        def VOID(self):
            return self.getToken(ThriftParser.VOID, 0)

        def type_(self):
            return self.getTypedRuleContext(ThriftParser.TypeContext,0)


        def THROWS(self):
            return self.getToken(ThriftParser.THROWS, 0)

        def annotations(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(ThriftParser.AnnotationsContext)
            else:
                return self.getTypedRuleContext(ThriftParser.AnnotationsContext,i)


        def field(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(ThriftParser.FieldContext)
            else:
                return self.getTypedRuleContext(ThriftParser.FieldContext,i)


        def COMMA(self):
            return self.getToken(ThriftParser.COMMA, 0)

        def SEMICOLON(self):
            return self.getToken(ThriftParser.SEMICOLON, 0)

        def ONEWAY(self):
            return self.getToken(ThriftParser.ONEWAY, 0)

        def ASYNC(self):
            return self.getToken(ThriftParser.ASYNC, 0)

        def getRuleIndex(self):
            return ThriftParser.RULE_function




    def function(self):

        localctx = ThriftParser.FunctionContext(self, self._ctx, self.state)
        self.enterRule(localctx, 12, self.RULE_function)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 203
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            if _la==16 or _la==17:
                self.state = 202
                localctx.oneway = self._input.LT(1)
                _la = self._input.LA(1)
                if not(_la==16 or _la==17):
                    localctx.oneway = self._errHandler.recoverInline(self)
                else:
                    self._errHandler.reportMatch(self)
                    self.consume()


            self.state = 210
            self._errHandler.sync(self)
            token = self._input.LA(1)
            if token in [18]:
                self.state = 205
                self.match(ThriftParser.VOID)
                self.state = 207
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                if _la==34:
                    self.state = 206
                    self.annotations()


                pass
            elif token in [20, 21, 22, 28]:
                self.state = 209
                localctx.result = self.type_()
                pass
            else:
                raise NoViableAltException(self)

            self.state = 212
            localctx.id_ = self.name()
            self.state = 213
            localctx.opening = self.match(ThriftParser.LPAREN)
            self.state = 217
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            while (((_la) & ~0x3f) == 0 and ((1 << _la) & 1349566464) != 0):
                self.state = 214
                localctx._field = self.field()
                localctx.parameters.append(localctx._field)
                self.state = 219
                self._errHandler.sync(self)
                _la = self._input.LA(1)

            self.state = 220
            localctx.closing = self.match(ThriftParser.RPAREN)
            self.state = 230
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            if _la==19:
                self.state = 221
                self.match(ThriftParser.THROWS)
                self.state = 222
                self.match(ThriftParser.LPAREN)
                self.state = 226
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                while (((_la) & ~0x3f) == 0 and ((1 << _la) & 1349566464) != 0):
                    self.state = 223
                    localctx._field = self.field()
                    localctx.errors.append(localctx._field)
                    self.state = 228
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)

                self.state = 229
                self.match(ThriftParser.RPAREN)


            self.state = 233
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            if _la==34:
                self.state = 232
                self.annotations()


            self.state = 236
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            if _la==41 or _la==42:
                self.state = 235
                _la = self._input.LA(1)
                if not(_la==41 or _la==42):
                    self._errHandler.recoverInline(self)
                else:
                    self._errHandler.reportMatch(self)
                    self.consume()


        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class TypeContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self.id_ = None # Token
            self.container = None # Token
            self._type = None # TypeContext
            self.arguments = list() # of TypeContexts

        def LESS(self):
            return self.getToken(ThriftParser.LESS, 0)

        def COMMA(self):
            return self.getToken(ThriftParser.COMMA, 0)

        def GREATER(self):
            return self.getToken(ThriftParser.GREATER, 0)

        def NAME(self):
            return self.getToken(ThriftParser.NAME, 0)

        def MAP(self):
            return self.getToken(ThriftParser.MAP, 0)

        def type_(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(ThriftParser.TypeContext)
            else:
                return self.getTypedRuleContext(ThriftParser.TypeContext,i)


        def annotations(self):
            return self.getTypedRuleContext(ThriftParser.AnnotationsContext,0)


        def LIST(self):
            return self.getToken(ThriftParser.LIST, 0)

        def SET(self):
            return self.getToken(ThriftParser.SET, 0)

        def cppType(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(ThriftParser.CppTypeContext)
            else:
                return self.getTypedRuleContext(ThriftParser.CppTypeContext,i)


        def getRuleIndex(self):
            return ThriftParser.RULE_type




    def type_(self):

        localctx = ThriftParser.TypeContext(self, self._ctx, self.state)
        self.enterRule(localctx, 14, self.RULE_type)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 259
            self._errHandler.sync(self)
            token = self._input.LA(1)
            if token in [28]:
                self.state = 238
                localctx.id_ = self.match(ThriftParser.NAME)
                pass
            elif token in [20]:
                self.state = 239
                localctx.container = self.match(ThriftParser.MAP)
                self.state = 241
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                if _la==23:
                    self.state = 240
                    self.cppType()


                self.state = 243
                self.match(ThriftParser.LESS)
                self.state = 244
                localctx._type = self.type_()
                localctx.arguments.append(localctx._type)
                self.state = 245
                self.match(ThriftParser.COMMA)
                self.state = 246
                localctx._type = self.type_()
                localctx.arguments.append(localctx._type)
                self.state = 247
                self.match(ThriftParser.GREATER)
                pass
            elif token in [21, 22]:
                self.state = 249
                localctx.container = self._input.LT(1)
                _la = self._input.LA(1)
                if not(_la==21 or _la==22):
                    localctx.container = self._errHandler.recoverInline(self)
                else:
                    self._errHandler.reportMatch(self)
                    self.consume()
                self.state = 251
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                if _la==23:
                    self.state = 250
                    self.cppType()


                self.state = 253
                self.match(ThriftParser.LESS)
                self.state = 254
                localctx._type = self.type_()
                localctx.arguments.append(localctx._type)
                self.state = 255
                self.match(ThriftParser.GREATER)
                self.state = 257
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                if _la==23:
                    self.state = 256
                    self.cppType()


                pass
            else:
                raise NoViableAltException(self)

            self.state = 262
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            if _la==34:
                self.state = 261
                self.annotations()


        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class CppTypeContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser

        def CPP_TYPE(self):
            return self.getToken(ThriftParser.CPP_TYPE, 0)

        def STRING(self):
            return self.getToken(ThriftParser.STRING, 0)

        def getRuleIndex(self):
            return ThriftParser.RULE_cppType




    def cppType(self):

        localctx = ThriftParser.CppTypeContext(self, self._ctx, self.state)
        self.enterRule(localctx, 16, self.RULE_cppType)
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 264
            self.match(ThriftParser.CPP_TYPE)
            self.state = 265
            self.match(ThriftParser.STRING)
        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class ConstantContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self.number = None # Token
            self.text = None # Token
            self.id_ = None # NameContext
            self.list_ = None # Token
            self._constant = None # ConstantContext
            self.parts = list() # of ConstantContexts
            self.map_ = None # Token

        def INTEGER(self):
            return self.getToken(ThriftParser.INTEGER, 0)

        def FLOAT(self):
            return self.getToken(ThriftParser.FLOAT, 0)

        def STRING(self):
            return self.getToken(ThriftParser.STRING, 0)

        def name(self):
            return self.getTypedRuleContext(ThriftParser.NameContext,0)


        def RBRACKET(self):
            return self.getToken(ThriftParser.RBRACKET, 0)

        def LBRACKET(self):
            return self.getToken(ThriftParser.LBRACKET, 0)

        def constant(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(ThriftParser.ConstantContext)
            else:
                return self.getTypedRuleContext(ThriftParser.ConstantContext,i)


        def COMMA(self, i:int=None):
            if i is None:
                return self.getTokens(ThriftParser.COMMA)
            else:
                return self.getToken(ThriftParser.COMMA, i)

        def SEMICOLON(self, i:int=None):
            if i is None:
                return self.getTokens(ThriftParser.SEMICOLON)
            else:
                return self.getToken(ThriftParser.SEMICOLON, i)

        def CLOSE(self):
            return self.getToken(ThriftParser.CLOSE, 0)

        def OPEN(self):
            return self.getToken(ThriftParser.OPEN, 0)

        def COLON(self, i:int=None):
            if i is None:
                return self.getTokens(ThriftParser.COLON)
            else:
                return self.getToken(ThriftParser.COLON, i)

        def getRuleIndex(self):
            return ThriftParser.RULE_constant




    def constant(self):

        localctx = ThriftParser.ConstantContext(self, self._ctx, self.state)
        self.enterRule(localctx, 18, self.RULE_constant)
        self._la = 0 # Token type
        try:
            self.state = 294
            self._errHandler.sync(self)
            token = self._input.LA(1)
            if token in [29, 30]:
                self.enterOuterAlt(localctx, 1)
                self.state = 267
                localctx.number = self._input.LT(1)
                _la = self._input.LA(1)
                if not(_la==29 or _la==30):
                    localctx.number = self._errHandler.recoverInline(self)
                else:
                    self._errHandler.reportMatch(self)
                    self.consume()
                pass
            elif token in [31]:
                self.enterOuterAlt(localctx, 2)
                self.state = 268
                localctx.text = self.match(ThriftParser.STRING)
                pass
            elif token in [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 28]:
                self.enterOuterAlt(localctx, 3)
                self.state = 269
                localctx.id_ = self.name()
                pass
            elif token in [38]:
                self.enterOuterAlt(localctx, 4)
                self.state = 270
                localctx.list_ = self.match(ThriftParser.LBRACKET)
                self.state = 277
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                while (((_la) & ~0x3f) == 0 and ((1 << _la) & 283207794686) != 0):
                    self.state = 271
                    localctx._constant = self.constant()
                    localctx.parts.append(localctx._constant)
                    self.state = 273
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)
                    if _la==41 or _la==42:
                        self.state = 272
                        _la = self._input.LA(1)
                        if not(_la==41 or _la==42):
                            self._errHandler.recoverInline(self)
                        else:
                            self._errHandler.reportMatch(self)
                            self.consume()


                    self.state = 279
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)

                self.state = 280
                self.match(ThriftParser.RBRACKET)
                pass
            elif token in [32]:
                self.enterOuterAlt(localctx, 5)
                self.state = 281
                localctx.map_ = self.match(ThriftParser.OPEN)
                self.state = 290
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                while (((_la) & ~0x3f) == 0 and ((1 << _la) & 283207794686) != 0):
                    self.state = 282
                    localctx._constant = self.constant()
                    localctx.parts.append(localctx._constant)
                    self.state = 283
                    self.match(ThriftParser.COLON)
                    self.state = 284
                    localctx._constant = self.constant()
                    localctx.parts.append(localctx._constant)
                    self.state = 286
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)
                    if _la==41 or _la==42:
                        self.state = 285
                        _la = self._input.LA(1)
                        if not(_la==41 or _la==42):
                            self._errHandler.recoverInline(self)
                        else:
                            self._errHandler.reportMatch(self)
                            self.consume()


                    self.state = 292
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)

                self.state = 293
                self.match(ThriftParser.CLOSE)
                pass
            else:
                raise NoViableAltException(self)

        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class AnnotationsContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser

        def LPAREN(self):
            return self.getToken(ThriftParser.LPAREN, 0)

        def RPAREN(self):
            return self.getToken(ThriftParser.RPAREN, 0)

        def name(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(ThriftParser.NameContext)
            else:
                return self.getTypedRuleContext(ThriftParser.NameContext,i)


        def ASSIGN(self, i:int=None):
            if i is None:
                return self.getTokens(ThriftParser.ASSIGN)
            else:
                return self.getToken(ThriftParser.ASSIGN, i)

        def COMMA(self, i:int=None):
            if i is None:
                return self.getTokens(ThriftParser.COMMA)
            else:
                return self.getToken(ThriftParser.COMMA, i)

        def SEMICOLON(self, i:int=None):
            if i is None:
                return self.getTokens(ThriftParser.SEMICOLON)
            else:
                return self.getToken(ThriftParser.SEMICOLON, i)

        def STRING(self, i:int=None):
            if i is None:
                return self.getTokens(ThriftParser.STRING)
            else:
                return self.getToken(ThriftParser.STRING, i)

        def INTEGER(self, i:int=None):
            if i is None:
                return self.getTokens(ThriftParser.INTEGER)
            else:
                return self.getToken(ThriftParser.INTEGER, i)

        def getRuleIndex(self):
            return ThriftParser.RULE_annotations




    def annotations(self):

        localctx = ThriftParser.AnnotationsContext(self, self._ctx, self.state)
        self.enterRule(localctx, 20, self.RULE_annotations)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 296
            self.match(ThriftParser.LPAREN)
            self.state = 311
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            while (((_la) & ~0x3f) == 0 and ((1 << _la) & 276824062) != 0):
                self.state = 297
                self.name()
                self.state = 304
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                if _la==43:
                    self.state = 298
                    self.match(ThriftParser.ASSIGN)
                    self.state = 302
                    self._errHandler.sync(self)
                    token = self._input.LA(1)
                    if token in [31]:
                        self.state = 299
                        self.match(ThriftParser.STRING)
                        pass
                    elif token in [30]:
                        self.state = 300
                        self.match(ThriftParser.INTEGER)
                        pass
                    elif token in [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 28]:
                        self.state = 301
                        self.name()
                        pass
                    else:
                        raise NoViableAltException(self)



                self.state = 307
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                if _la==41 or _la==42:
                    self.state = 306
                    _la = self._input.LA(1)
                    if not(_la==41 or _la==42):
                        self._errHandler.recoverInline(self)
                    else:
                        self._errHandler.reportMatch(self)
                        self.consume()


                self.state = 313
                self._errHandler.sync(self)
                _la = self._input.LA(1)

            self.state = 314
            self.match(ThriftParser.RPAREN)
        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class NameContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser

        def NAME(self):
            return self.getToken(ThriftParser.NAME, 0)

        def INCLUDE(self):
            return self.getToken(ThriftParser.INCLUDE, 0)

        def CPP_INCLUDE(self):
            return self.getToken(ThriftParser.CPP_INCLUDE, 0)

        def NAMESPACE(self):
            return self.getToken(ThriftParser.NAMESPACE, 0)

        def OLD_NAMESPACE(self):
            return self.getToken(ThriftParser.OLD_NAMESPACE, 0)

        def CONST(self):
            return self.getToken(ThriftParser.CONST, 0)

        def TYPEDEF(self):
            return self.getToken(ThriftParser.TYPEDEF, 0)

        def ENUM(self):
            return self.getToken(ThriftParser.ENUM, 0)

        def SENUM(self):
            return self.getToken(ThriftParser.SENUM, 0)

        def STRUCT(self):
            return self.getToken(ThriftParser.STRUCT, 0)

        def UNION(self):
            return self.getToken(ThriftParser.UNION, 0)

        def EXCEPTION(self):
            return self.getToken(ThriftParser.EXCEPTION, 0)

        def SERVICE(self):
            return self.getToken(ThriftParser.SERVICE, 0)

        def EXTENDS(self):
            return self.getToken(ThriftParser.EXTENDS, 0)

        def REQUIRED(self):
            return self.getToken(ThriftParser.REQUIRED, 0)

        def OPTIONAL(self):
            return self.getToken(ThriftParser.OPTIONAL, 0)

        def ONEWAY(self):
            return self.getToken(ThriftParser.ONEWAY, 0)

        def ASYNC(self):
            return self.getToken(ThriftParser.ASYNC, 0)

        def VOID(self):
            return self.getToken(ThriftParser.VOID, 0)

        def THROWS(self):
            return self.getToken(ThriftParser.THROWS, 0)

        def MAP(self):
            return self.getToken(ThriftParser.MAP, 0)

        def LIST(self):
            return self.getToken(ThriftParser.LIST, 0)

        def SET(self):
            return self.getToken(ThriftParser.SET, 0)

        def getRuleIndex(self):
            return ThriftParser.RULE_name




    def name(self):

        localctx = ThriftParser.NameContext(self, self._ctx, self.state)
        self.enterRule(localctx, 22, self.RULE_name)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 316
            _la = self._input.LA(1)
            if not((((_la) & ~0x3f) == 0 and ((1 << _la) & 276824062) != 0)):
                self._errHandler.recoverInline(self)
            else:
                self._errHandler.reportMatch(self)
                self.consume()
        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx





