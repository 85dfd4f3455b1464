# Generated from grammar/MfidlParser.g4 by ANTLR 4.13.2
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
        4,1,50,484,2,0,7,0,2,1,7,1,2,2,7,2,2,3,7,3,2,4,7,4,2,5,7,5,2,6,7,
        6,2,7,7,7,2,8,7,8,2,9,7,9,2,10,7,10,2,11,7,11,2,12,7,12,2,13,7,13,
        2,14,7,14,2,15,7,15,2,16,7,16,2,17,7,17,2,18,7,18,2,19,7,19,2,20,
        7,20,2,21,7,21,2,22,7,22,2,23,7,23,2,24,7,24,2,25,7,25,2,26,7,26,
        2,27,7,27,2,28,7,28,2,29,7,29,2,30,7,30,1,0,5,0,64,8,0,10,0,12,0,
        67,9,0,1,0,1,0,1,1,5,1,72,8,1,10,1,12,1,75,9,1,1,1,1,1,3,1,79,8,
        1,1,2,1,2,1,2,1,2,1,2,1,2,1,2,1,2,1,2,1,2,3,2,91,8,2,1,3,1,3,1,3,
        1,3,1,4,1,4,1,4,1,4,3,4,101,8,4,1,4,1,4,1,5,1,5,1,5,1,5,1,5,5,5,
        110,8,5,10,5,12,5,113,9,5,1,5,1,5,1,5,1,5,1,6,1,6,1,6,1,6,1,6,5,
        6,124,8,6,10,6,12,6,127,9,6,1,6,1,6,1,7,1,7,1,7,1,7,1,7,1,7,1,8,
        3,8,138,8,8,1,8,1,8,1,8,1,8,3,8,144,8,8,1,8,1,8,1,9,1,9,1,9,1,9,
        3,9,152,8,9,1,9,1,9,1,10,1,10,1,10,1,10,3,10,160,8,10,1,11,1,11,
        1,11,1,11,3,11,166,8,11,1,11,1,11,3,11,170,8,11,1,11,1,11,1,12,1,
        12,1,12,1,12,3,12,178,8,12,1,12,1,12,1,12,5,12,183,8,12,10,12,12,
        12,186,9,12,1,12,1,12,1,13,1,13,1,13,1,13,3,13,194,8,13,5,13,196,
        8,13,10,13,12,13,199,9,13,3,13,201,8,13,1,13,1,13,1,14,5,14,206,
        8,14,10,14,12,14,209,9,14,1,14,1,14,1,14,3,14,214,8,14,1,14,5,14,
        217,8,14,10,14,12,14,220,9,14,1,15,1,15,5,15,224,8,15,10,15,12,15,
        227,9,15,1,15,1,15,1,16,5,16,232,8,16,10,16,12,16,235,9,16,1,16,
        1,16,1,16,3,16,240,8,16,1,16,1,16,1,16,1,16,5,16,246,8,16,10,16,
        12,16,249,9,16,1,16,1,16,1,16,5,16,254,8,16,10,16,12,16,257,9,16,
        3,16,259,8,16,1,16,1,16,1,16,5,16,264,8,16,10,16,12,16,267,9,16,
        3,16,269,8,16,1,16,1,16,1,17,1,17,1,17,1,17,3,17,277,8,17,3,17,279,
        8,17,1,18,1,18,5,18,283,8,18,10,18,12,18,286,9,18,1,18,1,18,1,19,
        5,19,291,8,19,10,19,12,19,294,9,19,1,19,1,19,1,19,1,19,1,19,1,19,
        5,19,302,8,19,10,19,12,19,305,9,19,3,19,307,8,19,3,19,309,8,19,1,
        19,1,19,1,19,1,19,5,19,315,8,19,10,19,12,19,318,9,19,3,19,320,8,
        19,1,19,1,19,1,20,1,20,1,20,1,20,3,20,328,8,20,5,20,330,8,20,10,
        20,12,20,333,9,20,3,20,335,8,20,1,20,1,20,1,21,5,21,340,8,21,10,
        21,12,21,343,9,21,1,21,1,21,1,21,3,21,348,8,21,1,21,1,21,1,21,1,
        21,5,21,354,8,21,10,21,12,21,357,9,21,1,21,1,21,1,21,5,21,362,8,
        21,10,21,12,21,365,9,21,3,21,367,8,21,1,22,1,22,1,22,1,22,1,22,5,
        22,374,8,22,10,22,12,22,377,9,22,1,22,1,22,3,22,381,8,22,1,22,5,
        22,384,8,22,10,22,12,22,387,9,22,1,23,1,23,5,23,391,8,23,10,23,12,
        23,394,9,23,1,23,3,23,397,8,23,1,24,1,24,1,24,1,24,1,24,1,24,3,24,
        405,8,24,5,24,407,8,24,10,24,12,24,410,9,24,3,24,412,8,24,1,24,3,
        24,415,8,24,1,25,1,25,1,25,1,25,1,25,3,25,422,8,25,3,25,424,8,25,
        1,25,1,25,3,25,428,8,25,1,26,1,26,1,26,3,26,433,8,26,1,26,1,26,1,
        26,1,26,1,26,1,26,1,26,3,26,442,8,26,5,26,444,8,26,10,26,12,26,447,
        9,26,3,26,449,8,26,1,26,1,26,1,26,1,26,1,26,3,26,456,8,26,5,26,458,
        8,26,10,26,12,26,461,9,26,3,26,463,8,26,1,26,3,26,466,8,26,1,27,
        1,27,1,27,1,27,1,28,1,28,1,29,1,29,1,29,5,29,477,8,29,10,29,12,29,
        480,9,29,1,30,1,30,1,30,0,0,31,0,2,4,6,8,10,12,14,16,18,20,22,24,
        26,28,30,32,34,36,38,40,42,44,46,48,50,52,54,56,58,60,0,5,4,0,2,
        2,6,6,14,14,18,18,1,0,20,24,1,0,25,26,2,0,20,20,23,24,1,0,1,19,532,
        0,65,1,0,0,0,2,78,1,0,0,0,4,90,1,0,0,0,6,92,1,0,0,0,8,96,1,0,0,0,
        10,104,1,0,0,0,12,118,1,0,0,0,14,130,1,0,0,0,16,137,1,0,0,0,18,147,
        1,0,0,0,20,155,1,0,0,0,22,161,1,0,0,0,24,173,1,0,0,0,26,189,1,0,
        0,0,28,207,1,0,0,0,30,221,1,0,0,0,32,233,1,0,0,0,34,278,1,0,0,0,
        36,280,1,0,0,0,38,292,1,0,0,0,40,323,1,0,0,0,42,341,1,0,0,0,44,368,
        1,0,0,0,46,396,1,0,0,0,48,398,1,0,0,0,50,427,1,0,0,0,52,465,1,0,
        0,0,54,467,1,0,0,0,56,471,1,0,0,0,58,473,1,0,0,0,60,481,1,0,0,0,
        62,64,3,2,1,0,63,62,1,0,0,0,64,67,1,0,0,0,65,63,1,0,0,0,65,66,1,
        0,0,0,66,68,1,0,0,0,67,65,1,0,0,0,68,69,5,0,0,1,69,1,1,0,0,0,70,
        72,3,48,24,0,71,70,1,0,0,0,72,75,1,0,0,0,73,71,1,0,0,0,73,74,1,0,
        0,0,74,76,1,0,0,0,75,73,1,0,0,0,76,79,3,4,2,0,77,79,5,44,0,0,78,
        73,1,0,0,0,78,77,1,0,0,0,79,3,1,0,0,0,80,91,3,6,3,0,81,91,3,8,4,
        0,82,91,3,10,5,0,83,91,3,12,6,0,84,91,3,14,7,0,85,91,3,16,8,0,86,
        91,3,18,9,0,87,91,3,20,10,0,88,91,3,22,11,0,89,91,3,24,12,0,90,80,
        1,0,0,0,90,81,1,0,0,0,90,82,1,0,0,0,90,83,1,0,0,0,90,84,1,0,0,0,
        90,85,1,0,0,0,90,86,1,0,0,0,90,87,1,0,0,0,90,88,1,0,0,0,90,89,1,
        0,0,0,91,5,1,0,0,0,92,93,5,10,0,0,93,94,3,58,29,0,94,95,5,44,0,0,
        95,7,1,0,0,0,96,97,5,9,0,0,97,100,5,25,0,0,98,99,5,3,0,0,99,101,
        3,60,30,0,100,98,1,0,0,0,100,101,1,0,0,0,101,102,1,0,0,0,102,103,
        5,44,0,0,103,9,1,0,0,0,104,105,5,4,0,0,105,106,3,60,30,0,106,107,
        5,32,0,0,107,111,3,44,22,0,108,110,3,48,24,0,109,108,1,0,0,0,110,
        113,1,0,0,0,111,109,1,0,0,0,111,112,1,0,0,0,112,114,1,0,0,0,113,
        111,1,0,0,0,114,115,5,30,0,0,115,116,3,52,26,0,116,117,5,44,0,0,
        117,11,1,0,0,0,118,119,5,17,0,0,119,120,3,60,30,0,120,121,5,30,0,
        0,121,125,3,44,22,0,122,124,3,48,24,0,123,122,1,0,0,0,124,127,1,
        0,0,0,125,123,1,0,0,0,125,126,1,0,0,0,126,128,1,0,0,0,127,125,1,
        0,0,0,128,129,5,44,0,0,129,13,1,0,0,0,130,131,5,1,0,0,131,132,3,
        60,30,0,132,133,5,32,0,0,133,134,3,44,22,0,134,135,5,44,0,0,135,
        15,1,0,0,0,136,138,5,11,0,0,137,136,1,0,0,0,137,138,1,0,0,0,138,
        139,1,0,0,0,139,140,5,5,0,0,140,143,3,60,30,0,141,142,5,32,0,0,142,
        144,3,44,22,0,143,141,1,0,0,0,143,144,1,0,0,0,144,145,1,0,0,0,145,
        146,3,26,13,0,146,17,1,0,0,0,147,148,5,8,0,0,148,151,3,60,30,0,149,
        150,5,32,0,0,150,152,3,44,22,0,151,149,1,0,0,0,151,152,1,0,0,0,152,
        153,1,0,0,0,153,154,3,26,13,0,154,19,1,0,0,0,155,156,7,0,0,0,156,
        159,3,60,30,0,157,160,3,30,15,0,158,160,5,44,0,0,159,157,1,0,0,0,
        159,158,1,0,0,0,160,21,1,0,0,0,161,162,5,13,0,0,162,165,3,60,30,
        0,163,164,5,7,0,0,164,166,3,58,29,0,165,163,1,0,0,0,165,166,1,0,
        0,0,166,169,1,0,0,0,167,168,5,12,0,0,168,170,3,58,29,0,169,167,1,
        0,0,0,169,170,1,0,0,0,170,171,1,0,0,0,171,172,3,36,18,0,172,23,1,
        0,0,0,173,174,5,16,0,0,174,177,3,60,30,0,175,176,5,12,0,0,176,178,
        3,58,29,0,177,175,1,0,0,0,177,178,1,0,0,0,178,179,1,0,0,0,179,180,
        5,32,0,0,180,184,3,44,22,0,181,183,3,48,24,0,182,181,1,0,0,0,183,
        186,1,0,0,0,184,182,1,0,0,0,184,185,1,0,0,0,185,187,1,0,0,0,186,
        184,1,0,0,0,187,188,5,44,0,0,188,25,1,0,0,0,189,200,5,40,0,0,190,
        197,3,28,14,0,191,193,5,33,0,0,192,194,3,28,14,0,193,192,1,0,0,0,
        193,194,1,0,0,0,194,196,1,0,0,0,195,191,1,0,0,0,196,199,1,0,0,0,
        197,195,1,0,0,0,197,198,1,0,0,0,198,201,1,0,0,0,199,197,1,0,0,0,
        200,190,1,0,0,0,200,201,1,0,0,0,201,202,1,0,0,0,202,203,5,31,0,0,
        203,27,1,0,0,0,204,206,3,48,24,0,205,204,1,0,0,0,206,209,1,0,0,0,
        207,205,1,0,0,0,207,208,1,0,0,0,208,210,1,0,0,0,209,207,1,0,0,0,
        210,213,3,60,30,0,211,212,5,30,0,0,212,214,3,52,26,0,213,211,1,0,
        0,0,213,214,1,0,0,0,214,218,1,0,0,0,215,217,3,48,24,0,216,215,1,
        0,0,0,217,220,1,0,0,0,218,216,1,0,0,0,218,219,1,0,0,0,219,29,1,0,
        0,0,220,218,1,0,0,0,221,225,5,40,0,0,222,224,3,32,16,0,223,222,1,
        0,0,0,224,227,1,0,0,0,225,223,1,0,0,0,225,226,1,0,0,0,226,228,1,
        0,0,0,227,225,1,0,0,0,228,229,5,31,0,0,229,31,1,0,0,0,230,232,3,
        48,24,0,231,230,1,0,0,0,232,235,1,0,0,0,233,231,1,0,0,0,233,234,
        1,0,0,0,234,239,1,0,0,0,235,233,1,0,0,0,236,237,3,56,28,0,237,238,
        5,32,0,0,238,240,1,0,0,0,239,236,1,0,0,0,239,240,1,0,0,0,240,241,
        1,0,0,0,241,268,3,60,30,0,242,243,5,32,0,0,243,247,3,44,22,0,244,
        246,3,48,24,0,245,244,1,0,0,0,246,249,1,0,0,0,247,245,1,0,0,0,247,
        248,1,0,0,0,248,258,1,0,0,0,249,247,1,0,0,0,250,251,5,30,0,0,251,
        255,3,52,26,0,252,254,3,48,24,0,253,252,1,0,0,0,254,257,1,0,0,0,
        255,253,1,0,0,0,255,256,1,0,0,0,256,259,1,0,0,0,257,255,1,0,0,0,
        258,250,1,0,0,0,258,259,1,0,0,0,259,269,1,0,0,0,260,265,3,34,17,
        0,261,262,5,33,0,0,262,264,3,34,17,0,263,261,1,0,0,0,264,267,1,0,
        0,0,265,263,1,0,0,0,265,266,1,0,0,0,266,269,1,0,0,0,267,265,1,0,
        0,0,268,242,1,0,0,0,268,260,1,0,0,0,269,270,1,0,0,0,270,271,5,44,
        0,0,271,33,1,0,0,0,272,279,5,25,0,0,273,276,3,56,28,0,274,275,5,
        28,0,0,275,277,3,56,28,0,276,274,1,0,0,0,276,277,1,0,0,0,277,279,
        1,0,0,0,278,272,1,0,0,0,278,273,1,0,0,0,279,35,1,0,0,0,280,284,5,
        40,0,0,281,283,3,38,19,0,282,281,1,0,0,0,283,286,1,0,0,0,284,282,
        1,0,0,0,284,285,1,0,0,0,285,287,1,0,0,0,286,284,1,0,0,0,287,288,
        5,31,0,0,288,37,1,0,0,0,289,291,3,48,24,0,290,289,1,0,0,0,291,294,
        1,0,0,0,292,290,1,0,0,0,292,293,1,0,0,0,293,295,1,0,0,0,294,292,
        1,0,0,0,295,296,3,60,30,0,296,308,3,40,20,0,297,306,5,27,0,0,298,
        307,3,40,20,0,299,303,3,44,22,0,300,302,3,48,24,0,301,300,1,0,0,
        0,302,305,1,0,0,0,303,301,1,0,0,0,303,304,1,0,0,0,304,307,1,0,0,
        0,305,303,1,0,0,0,306,298,1,0,0,0,306,299,1,0,0,0,307,309,1,0,0,
        0,308,297,1,0,0,0,308,309,1,0,0,0,309,319,1,0,0,0,310,311,5,15,0,
        0,311,316,3,58,29,0,312,313,5,33,0,0,313,315,3,58,29,0,314,312,1,
        0,0,0,315,318,1,0,0,0,316,314,1,0,0,0,316,317,1,0,0,0,317,320,1,
        0,0,0,318,316,1,0,0,0,319,310,1,0,0,0,319,320,1,0,0,0,320,321,1,
        0,0,0,321,322,5,44,0,0,322,39,1,0,0,0,323,334,5,38,0,0,324,331,3,
        42,21,0,325,327,5,33,0,0,326,328,3,42,21,0,327,326,1,0,0,0,327,328,
        1,0,0,0,328,330,1,0,0,0,329,325,1,0,0,0,330,333,1,0,0,0,331,329,
        1,0,0,0,331,332,1,0,0,0,332,335,1,0,0,0,333,331,1,0,0,0,334,324,
        1,0,0,0,334,335,1,0,0,0,335,336,1,0,0,0,336,337,5,43,0,0,337,41,
        1,0,0,0,338,340,3,48,24,0,339,338,1,0,0,0,340,343,1,0,0,0,341,339,
        1,0,0,0,341,342,1,0,0,0,342,347,1,0,0,0,343,341,1,0,0,0,344,345,
        3,56,28,0,345,346,5,32,0,0,346,348,1,0,0,0,347,344,1,0,0,0,347,348,
        1,0,0,0,348,349,1,0,0,0,349,350,3,60,30,0,350,351,5,32,0,0,351,355,
        3,44,22,0,352,354,3,48,24,0,353,352,1,0,0,0,354,357,1,0,0,0,355,
        353,1,0,0,0,355,356,1,0,0,0,356,366,1,0,0,0,357,355,1,0,0,0,358,
        359,5,30,0,0,359,363,3,52,26,0,360,362,3,48,24,0,361,360,1,0,0,0,
        362,365,1,0,0,0,363,361,1,0,0,0,363,364,1,0,0,0,364,367,1,0,0,0,
        365,363,1,0,0,0,366,358,1,0,0,0,366,367,1,0,0,0,367,43,1,0,0,0,368,
        380,3,58,29,0,369,370,5,37,0,0,370,375,3,46,23,0,371,372,5,33,0,
        0,372,374,3,46,23,0,373,371,1,0,0,0,374,377,1,0,0,0,375,373,1,0,
        0,0,375,376,1,0,0,0,376,378,1,0,0,0,377,375,1,0,0,0,378,379,5,35,
        0,0,379,381,1,0,0,0,380,369,1,0,0,0,380,381,1,0,0,0,381,385,1,0,
        0,0,382,384,5,41,0,0,383,382,1,0,0,0,384,387,1,0,0,0,385,383,1,0,
        0,0,385,386,1,0,0,0,386,45,1,0,0,0,387,385,1,0,0,0,388,392,3,44,
        22,0,389,391,3,48,24,0,390,389,1,0,0,0,391,394,1,0,0,0,392,390,1,
        0,0,0,392,393,1,0,0,0,393,397,1,0,0,0,394,392,1,0,0,0,395,397,3,
        56,28,0,396,388,1,0,0,0,396,395,1,0,0,0,397,47,1,0,0,0,398,399,5,
        29,0,0,399,414,3,58,29,0,400,411,5,38,0,0,401,408,3,50,25,0,402,
        404,5,33,0,0,403,405,3,50,25,0,404,403,1,0,0,0,404,405,1,0,0,0,405,
        407,1,0,0,0,406,402,1,0,0,0,407,410,1,0,0,0,408,406,1,0,0,0,408,
        409,1,0,0,0,409,412,1,0,0,0,410,408,1,0,0,0,411,401,1,0,0,0,411,
        412,1,0,0,0,412,413,1,0,0,0,413,415,5,43,0,0,414,400,1,0,0,0,414,
        415,1,0,0,0,415,49,1,0,0,0,416,423,3,52,26,0,417,418,5,30,0,0,418,
        424,3,52,26,0,419,421,5,28,0,0,420,422,3,52,26,0,421,420,1,0,0,0,
        421,422,1,0,0,0,422,424,1,0,0,0,423,417,1,0,0,0,423,419,1,0,0,0,
        423,424,1,0,0,0,424,428,1,0,0,0,425,426,5,28,0,0,426,428,3,52,26,
        0,427,416,1,0,0,0,427,425,1,0,0,0,428,51,1,0,0,0,429,432,5,39,0,
        0,430,433,7,1,0,0,431,433,3,58,29,0,432,430,1,0,0,0,432,431,1,0,
        0,0,433,466,1,0,0,0,434,466,7,1,0,0,435,466,7,2,0,0,436,466,3,58,
        29,0,437,448,5,36,0,0,438,445,3,52,26,0,439,441,5,33,0,0,440,442,
        3,52,26,0,441,440,1,0,0,0,441,442,1,0,0,0,442,444,1,0,0,0,443,439,
        1,0,0,0,444,447,1,0,0,0,445,443,1,0,0,0,445,446,1,0,0,0,446,449,
        1,0,0,0,447,445,1,0,0,0,448,438,1,0,0,0,448,449,1,0,0,0,449,450,
        1,0,0,0,450,466,5,42,0,0,451,462,5,40,0,0,452,459,3,54,27,0,453,
        455,5,33,0,0,454,456,3,54,27,0,455,454,1,0,0,0,455,456,1,0,0,0,456,
        458,1,0,0,0,457,453,1,0,0,0,458,461,1,0,0,0,459,457,1,0,0,0,459,
        460,1,0,0,0,460,463,1,0,0,0,461,459,1,0,0,0,462,452,1,0,0,0,462,
        463,1,0,0,0,463,464,1,0,0,0,464,466,5,31,0,0,465,429,1,0,0,0,465,
        434,1,0,0,0,465,435,1,0,0,0,465,436,1,0,0,0,465,437,1,0,0,0,465,
        451,1,0,0,0,466,53,1,0,0,0,467,468,3,52,26,0,468,469,5,32,0,0,469,
        470,3,52,26,0,470,55,1,0,0,0,471,472,7,3,0,0,472,57,1,0,0,0,473,
        478,3,60,30,0,474,475,5,34,0,0,475,477,3,60,30,0,476,474,1,0,0,0,
        477,480,1,0,0,0,478,476,1,0,0,0,478,479,1,0,0,0,479,59,1,0,0,0,480,
        478,1,0,0,0,481,482,7,4,0,0,482,61,1,0,0,0,67,65,73,78,90,100,111,
        125,137,143,151,159,165,169,177,184,193,197,200,207,213,218,225,
        233,239,247,255,258,265,268,276,278,284,292,303,306,308,316,319,
        327,331,334,341,347,355,363,366,375,380,385,392,396,404,408,411,
        414,421,423,427,432,441,445,448,455,459,462,465,478
    ]

class MfidlParser ( Parser ):

    grammarFileName = "MfidlParser.g4"

    atn = ATNDeserializer().deserialize(serializedATN())

    decisionsToDFA = [ DFA(ds, i) for i, ds in enumerate(atn.decisionToState) ]

    sharedContextCache = PredictionContextCache()

    literalNames = [ "<INVALID>", "'agent'", "'annotation'", "'as'", "'const'", 
                     "'enum'", "'error'", "'extends'", "'flags'", "'import'", 
                     "'module'", "'open'", "'per'", "'service'", "'struct'", 
                     "'throws'", "'topic'", "'type'", "'union'", "<INVALID>", 
                     "<INVALID>", "<INVALID>", "<INVALID>", "<INVALID>", 
                     "<INVALID>", "<INVALID>", "<INVALID>", "'->'", "'..'", 
                     "'@'", "'='", "'}'", "':'", "','", "'.'", "'>'", "'['", 
                     "'<'", "'('", "'-'", "'{'", "'?'", "']'", "')'", "';'" ]

    symbolicNames = [ "<INVALID>", "AGENT", "ANNOTATION", "AS", "CONST", 
                      "ENUM", "ERROR", "EXTENDS", "FLAGS", "IMPORT", "MODULE", 
                      "OPEN", "PER", "SERVICE", "STRUCT", "THROWS", "TOPIC", 
                      "TYPE", "UNION", "NAME", "HEX", "FLOAT", "DURATION", 
                      "INTEGER", "BAD_NUMBER", "STRING", "BAD_STRING", "ARROW", 
                      "DOTS", "AT", "ASSIGN", "CLOSE", "COLON", "COMMA", 
                      "DOT", "GREATER", "LBRACKET", "LESS", "LPAREN", "MINUS", 
                      "OPEN_BRACE", "QUESTION", "RBRACKET", "RPAREN", "SEMICOLON", 
                      "DOC_COMMENT", "LINE_COMMENT", "BLOCK_COMMENT", "OPEN_COMMENT", 
                      "SPACE", "BAD" ]

    RULE_file = 0
    RULE_item = 1
    RULE_decl = 2
    RULE_moduleDecl = 3
    RULE_importDecl = 4
    RULE_constDecl = 5
    RULE_aliasDecl = 6
    RULE_agentDecl = 7
    RULE_enumDecl = 8
    RULE_flagsDecl = 9
    RULE_structDecl = 10
    RULE_serviceDecl = 11
    RULE_topicDecl = 12
    RULE_enumBody = 13
    RULE_enumMember = 14
    RULE_structBody = 15
    RULE_structMember = 16
    RULE_reservedItem = 17
    RULE_serviceBody = 18
    RULE_method = 19
    RULE_fieldList = 20
    RULE_field = 21
    RULE_type = 22
    RULE_typeArgument = 23
    RULE_annotation = 24
    RULE_argument = 25
    RULE_value = 26
    RULE_entry = 27
    RULE_integer = 28
    RULE_path = 29
    RULE_name = 30

    ruleNames =  [ "file", "item", "decl", "moduleDecl", "importDecl", "constDecl", 
                   "aliasDecl", "agentDecl", "enumDecl", "flagsDecl", "structDecl", 
                   "serviceDecl", "topicDecl", "enumBody", "enumMember", 
                   "structBody", "structMember", "reservedItem", "serviceBody", 
                   "method", "fieldList", "field", "type", "typeArgument", 
                   "annotation", "argument", "value", "entry", "integer", 
                   "path", "name" ]

    EOF = Token.EOF
    AGENT=1
    ANNOTATION=2
    AS=3
    CONST=4
    ENUM=5
    ERROR=6
    EXTENDS=7
    FLAGS=8
    IMPORT=9
    MODULE=10
    OPEN=11
    PER=12
    SERVICE=13
    STRUCT=14
    THROWS=15
    TOPIC=16
    TYPE=17
    UNION=18
    NAME=19
    HEX=20
    FLOAT=21
    DURATION=22
    INTEGER=23
    BAD_NUMBER=24
    STRING=25
    BAD_STRING=26
    ARROW=27
    DOTS=28
    AT=29
    ASSIGN=30
    CLOSE=31
    COLON=32
    COMMA=33
    DOT=34
    GREATER=35
    LBRACKET=36
    LESS=37
    LPAREN=38
    MINUS=39
    OPEN_BRACE=40
    QUESTION=41
    RBRACKET=42
    RPAREN=43
    SEMICOLON=44
    DOC_COMMENT=45
    LINE_COMMENT=46
    BLOCK_COMMENT=47
    OPEN_COMMENT=48
    SPACE=49
    BAD=50

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
            self._item = None # ItemContext
            self.items = list() # of ItemContexts

        def EOF(self):
            return self.getToken(MfidlParser.EOF, 0)

        def item(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(MfidlParser.ItemContext)
            else:
                return self.getTypedRuleContext(MfidlParser.ItemContext,i)


        def getRuleIndex(self):
            return MfidlParser.RULE_file




    def file_(self):

        localctx = MfidlParser.FileContext(self, self._ctx, self.state)
        self.enterRule(localctx, 0, self.RULE_file)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 65
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            while (((_la) & ~0x3f) == 0 and ((1 << _la) & 17592723402614) != 0):
                self.state = 62
                localctx._item = self.item()
                localctx.items.append(localctx._item)
                self.state = 67
                self._errHandler.sync(self)
                _la = self._input.LA(1)

            self.state = 68
            self.match(MfidlParser.EOF)
        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class ItemContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self._annotation = None # AnnotationContext
            self.annotations = list() # of AnnotationContexts
            self.declaration = None # DeclContext

        def decl(self):
            return self.getTypedRuleContext(MfidlParser.DeclContext,0)


        def annotation(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(MfidlParser.AnnotationContext)
            else:
                return self.getTypedRuleContext(MfidlParser.AnnotationContext,i)


        def SEMICOLON(self):
            return self.getToken(MfidlParser.SEMICOLON, 0)

        def getRuleIndex(self):
            return MfidlParser.RULE_item




    def item(self):

        localctx = MfidlParser.ItemContext(self, self._ctx, self.state)
        self.enterRule(localctx, 2, self.RULE_item)
        self._la = 0 # Token type
        try:
            self.state = 78
            self._errHandler.sync(self)
            token = self._input.LA(1)
            if token in [1, 2, 4, 5, 6, 8, 9, 10, 11, 13, 14, 16, 17, 18, 29]:
                self.enterOuterAlt(localctx, 1)
                self.state = 73
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                while _la==29:
                    self.state = 70
                    localctx._annotation = self.annotation()
                    localctx.annotations.append(localctx._annotation)
                    self.state = 75
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)

                self.state = 76
                localctx.declaration = self.decl()
                pass
            elif token in [44]:
                self.enterOuterAlt(localctx, 2)
                self.state = 77
                self.match(MfidlParser.SEMICOLON)
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


    class DeclContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self.a = None # ModuleDeclContext
            self.b = None # ImportDeclContext
            self.c = None # ConstDeclContext
            self.d = None # AliasDeclContext
            self.e = None # AgentDeclContext
            self.f = None # EnumDeclContext
            self.g = None # FlagsDeclContext
            self.h = None # StructDeclContext
            self.i = None # ServiceDeclContext
            self.j = None # TopicDeclContext

        def moduleDecl(self):
            return self.getTypedRuleContext(MfidlParser.ModuleDeclContext,0)


        def importDecl(self):
            return self.getTypedRuleContext(MfidlParser.ImportDeclContext,0)


        def constDecl(self):
            return self.getTypedRuleContext(MfidlParser.ConstDeclContext,0)


        def aliasDecl(self):
            return self.getTypedRuleContext(MfidlParser.AliasDeclContext,0)


        def agentDecl(self):
            return self.getTypedRuleContext(MfidlParser.AgentDeclContext,0)


        def enumDecl(self):
            return self.getTypedRuleContext(MfidlParser.EnumDeclContext,0)


        def flagsDecl(self):
            return self.getTypedRuleContext(MfidlParser.FlagsDeclContext,0)


        def structDecl(self):
            return self.getTypedRuleContext(MfidlParser.StructDeclContext,0)


        def serviceDecl(self):
            return self.getTypedRuleContext(MfidlParser.ServiceDeclContext,0)


        def topicDecl(self):
            return self.getTypedRuleContext(MfidlParser.TopicDeclContext,0)


        def getRuleIndex(self):
            return MfidlParser.RULE_decl




    def decl(self):

        localctx = MfidlParser.DeclContext(self, self._ctx, self.state)
        self.enterRule(localctx, 4, self.RULE_decl)
        try:
            self.state = 90
            self._errHandler.sync(self)
            token = self._input.LA(1)
            if token in [10]:
                self.enterOuterAlt(localctx, 1)
                self.state = 80
                localctx.a = self.moduleDecl()
                pass
            elif token in [9]:
                self.enterOuterAlt(localctx, 2)
                self.state = 81
                localctx.b = self.importDecl()
                pass
            elif token in [4]:
                self.enterOuterAlt(localctx, 3)
                self.state = 82
                localctx.c = self.constDecl()
                pass
            elif token in [17]:
                self.enterOuterAlt(localctx, 4)
                self.state = 83
                localctx.d = self.aliasDecl()
                pass
            elif token in [1]:
                self.enterOuterAlt(localctx, 5)
                self.state = 84
                localctx.e = self.agentDecl()
                pass
            elif token in [5, 11]:
                self.enterOuterAlt(localctx, 6)
                self.state = 85
                localctx.f = self.enumDecl()
                pass
            elif token in [8]:
                self.enterOuterAlt(localctx, 7)
                self.state = 86
                localctx.g = self.flagsDecl()
                pass
            elif token in [2, 6, 14, 18]:
                self.enterOuterAlt(localctx, 8)
                self.state = 87
                localctx.h = self.structDecl()
                pass
            elif token in [13]:
                self.enterOuterAlt(localctx, 9)
                self.state = 88
                localctx.i = self.serviceDecl()
                pass
            elif token in [16]:
                self.enterOuterAlt(localctx, 10)
                self.state = 89
                localctx.j = self.topicDecl()
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


    class ModuleDeclContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self.id_ = None # PathContext

        def MODULE(self):
            return self.getToken(MfidlParser.MODULE, 0)

        def SEMICOLON(self):
            return self.getToken(MfidlParser.SEMICOLON, 0)

        def path(self):
            return self.getTypedRuleContext(MfidlParser.PathContext,0)


        def getRuleIndex(self):
            return MfidlParser.RULE_moduleDecl




    def moduleDecl(self):

        localctx = MfidlParser.ModuleDeclContext(self, self._ctx, self.state)
        self.enterRule(localctx, 6, self.RULE_moduleDecl)
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 92
            self.match(MfidlParser.MODULE)
            self.state = 93
            localctx.id_ = self.path()
            self.state = 94
            self.match(MfidlParser.SEMICOLON)
        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class ImportDeclContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self.target = None # Token
            self.alias = None # NameContext

        def IMPORT(self):
            return self.getToken(MfidlParser.IMPORT, 0)

        def SEMICOLON(self):
            return self.getToken(MfidlParser.SEMICOLON, 0)

        def STRING(self):
            return self.getToken(MfidlParser.STRING, 0)

        def AS(self):
            return self.getToken(MfidlParser.AS, 0)

        def name(self):
            return self.getTypedRuleContext(MfidlParser.NameContext,0)


        def getRuleIndex(self):
            return MfidlParser.RULE_importDecl




    def importDecl(self):

        localctx = MfidlParser.ImportDeclContext(self, self._ctx, self.state)
        self.enterRule(localctx, 8, self.RULE_importDecl)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 96
            self.match(MfidlParser.IMPORT)
            self.state = 97
            localctx.target = self.match(MfidlParser.STRING)
            self.state = 100
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            if _la==3:
                self.state = 98
                self.match(MfidlParser.AS)
                self.state = 99
                localctx.alias = self.name()


            self.state = 102
            self.match(MfidlParser.SEMICOLON)
        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class ConstDeclContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self.id_ = None # NameContext
            self.of = None # TypeContext
            self._annotation = None # AnnotationContext
            self.annotations = list() # of AnnotationContexts
            self.init = None # ValueContext

        def CONST(self):
            return self.getToken(MfidlParser.CONST, 0)

        def COLON(self):
            return self.getToken(MfidlParser.COLON, 0)

        def ASSIGN(self):
            return self.getToken(MfidlParser.ASSIGN, 0)

        def SEMICOLON(self):
            return self.getToken(MfidlParser.SEMICOLON, 0)

        def name(self):
            return self.getTypedRuleContext(MfidlParser.NameContext,0)


        def type_(self):
            return self.getTypedRuleContext(MfidlParser.TypeContext,0)


        def value(self):
            return self.getTypedRuleContext(MfidlParser.ValueContext,0)


        def annotation(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(MfidlParser.AnnotationContext)
            else:
                return self.getTypedRuleContext(MfidlParser.AnnotationContext,i)


        def getRuleIndex(self):
            return MfidlParser.RULE_constDecl




    def constDecl(self):

        localctx = MfidlParser.ConstDeclContext(self, self._ctx, self.state)
        self.enterRule(localctx, 10, self.RULE_constDecl)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 104
            self.match(MfidlParser.CONST)
            self.state = 105
            localctx.id_ = self.name()
            self.state = 106
            self.match(MfidlParser.COLON)
            self.state = 107
            localctx.of = self.type_()
            self.state = 111
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            while _la==29:
                self.state = 108
                localctx._annotation = self.annotation()
                localctx.annotations.append(localctx._annotation)
                self.state = 113
                self._errHandler.sync(self)
                _la = self._input.LA(1)

            self.state = 114
            self.match(MfidlParser.ASSIGN)
            self.state = 115
            localctx.init = self.value()
            self.state = 116
            self.match(MfidlParser.SEMICOLON)
        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class AliasDeclContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self.id_ = None # NameContext
            self.of = None # TypeContext
            self._annotation = None # AnnotationContext
            self.annotations = list() # of AnnotationContexts

        def TYPE(self):
            return self.getToken(MfidlParser.TYPE, 0)

        def ASSIGN(self):
            return self.getToken(MfidlParser.ASSIGN, 0)

        def SEMICOLON(self):
            return self.getToken(MfidlParser.SEMICOLON, 0)

        def name(self):
            return self.getTypedRuleContext(MfidlParser.NameContext,0)


        def type_(self):
            return self.getTypedRuleContext(MfidlParser.TypeContext,0)


        def annotation(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(MfidlParser.AnnotationContext)
            else:
                return self.getTypedRuleContext(MfidlParser.AnnotationContext,i)


        def getRuleIndex(self):
            return MfidlParser.RULE_aliasDecl




    def aliasDecl(self):

        localctx = MfidlParser.AliasDeclContext(self, self._ctx, self.state)
        self.enterRule(localctx, 12, self.RULE_aliasDecl)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 118
            self.match(MfidlParser.TYPE)
            self.state = 119
            localctx.id_ = self.name()
            self.state = 120
            self.match(MfidlParser.ASSIGN)
            self.state = 121
            localctx.of = self.type_()
            self.state = 125
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            while _la==29:
                self.state = 122
                localctx._annotation = self.annotation()
                localctx.annotations.append(localctx._annotation)
                self.state = 127
                self._errHandler.sync(self)
                _la = self._input.LA(1)

            self.state = 128
            self.match(MfidlParser.SEMICOLON)
        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class AgentDeclContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self.id_ = None # NameContext
            self.of = None # TypeContext

        def AGENT(self):
            return self.getToken(MfidlParser.AGENT, 0)

        def COLON(self):
            return self.getToken(MfidlParser.COLON, 0)

        def SEMICOLON(self):
            return self.getToken(MfidlParser.SEMICOLON, 0)

        def name(self):
            return self.getTypedRuleContext(MfidlParser.NameContext,0)


        def type_(self):
            return self.getTypedRuleContext(MfidlParser.TypeContext,0)


        def getRuleIndex(self):
            return MfidlParser.RULE_agentDecl




    def agentDecl(self):

        localctx = MfidlParser.AgentDeclContext(self, self._ctx, self.state)
        self.enterRule(localctx, 14, self.RULE_agentDecl)
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 130
            self.match(MfidlParser.AGENT)
            self.state = 131
            localctx.id_ = self.name()
            self.state = 132
            self.match(MfidlParser.COLON)
            self.state = 133
            localctx.of = self.type_()
            self.state = 134
            self.match(MfidlParser.SEMICOLON)
        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class EnumDeclContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self.open_ = None # Token
            self.id_ = None # NameContext
            self.base = None # TypeContext
            self.body = None # EnumBodyContext

        def ENUM(self):
            return self.getToken(MfidlParser.ENUM, 0)

        def name(self):
            return self.getTypedRuleContext(MfidlParser.NameContext,0)


        def enumBody(self):
            return self.getTypedRuleContext(MfidlParser.EnumBodyContext,0)


        def COLON(self):
            return self.getToken(MfidlParser.COLON, 0)

        def OPEN(self):
            return self.getToken(MfidlParser.OPEN, 0)

        def type_(self):
            return self.getTypedRuleContext(MfidlParser.TypeContext,0)


        def getRuleIndex(self):
            return MfidlParser.RULE_enumDecl




    def enumDecl(self):

        localctx = MfidlParser.EnumDeclContext(self, self._ctx, self.state)
        self.enterRule(localctx, 16, self.RULE_enumDecl)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 137
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            if _la==11:
                self.state = 136
                localctx.open_ = self.match(MfidlParser.OPEN)


            self.state = 139
            self.match(MfidlParser.ENUM)
            self.state = 140
            localctx.id_ = self.name()
            self.state = 143
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            if _la==32:
                self.state = 141
                self.match(MfidlParser.COLON)
                self.state = 142
                localctx.base = self.type_()


            self.state = 145
            localctx.body = self.enumBody()
        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class FlagsDeclContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self.id_ = None # NameContext
            self.base = None # TypeContext
            self.body = None # EnumBodyContext

        def FLAGS(self):
            return self.getToken(MfidlParser.FLAGS, 0)

        def name(self):
            return self.getTypedRuleContext(MfidlParser.NameContext,0)


        def enumBody(self):
            return self.getTypedRuleContext(MfidlParser.EnumBodyContext,0)


        def COLON(self):
            return self.getToken(MfidlParser.COLON, 0)

        def type_(self):
            return self.getTypedRuleContext(MfidlParser.TypeContext,0)


        def getRuleIndex(self):
            return MfidlParser.RULE_flagsDecl




    def flagsDecl(self):

        localctx = MfidlParser.FlagsDeclContext(self, self._ctx, self.state)
        self.enterRule(localctx, 18, self.RULE_flagsDecl)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 147
            self.match(MfidlParser.FLAGS)
            self.state = 148
            localctx.id_ = self.name()
            self.state = 151
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            if _la==32:
                self.state = 149
                self.match(MfidlParser.COLON)
                self.state = 150
                localctx.base = self.type_()


            self.state = 153
            localctx.body = self.enumBody()
        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class StructDeclContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self.kind = None # Token
            self.id_ = None # NameContext
            self.body = None # StructBodyContext

        def name(self):
            return self.getTypedRuleContext(MfidlParser.NameContext,0)


        def STRUCT(self):
            return self.getToken(MfidlParser.STRUCT, 0)

        def ERROR(self):
            return self.getToken(MfidlParser.ERROR, 0)

        def UNION(self):
            return self.getToken(MfidlParser.UNION, 0)

        def ANNOTATION(self):
            return self.getToken(MfidlParser.ANNOTATION, 0)

        def SEMICOLON(self):
            return self.getToken(MfidlParser.SEMICOLON, 0)

        def structBody(self):
            return self.getTypedRuleContext(MfidlParser.StructBodyContext,0)


        def getRuleIndex(self):
            return MfidlParser.RULE_structDecl




    def structDecl(self):

        localctx = MfidlParser.StructDeclContext(self, self._ctx, self.state)
        self.enterRule(localctx, 20, self.RULE_structDecl)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 155
            localctx.kind = self._input.LT(1)
            _la = self._input.LA(1)
            if not((((_la) & ~0x3f) == 0 and ((1 << _la) & 278596) != 0)):
                localctx.kind = self._errHandler.recoverInline(self)
            else:
                self._errHandler.reportMatch(self)
                self.consume()
            self.state = 156
            localctx.id_ = self.name()
            self.state = 159
            self._errHandler.sync(self)
            token = self._input.LA(1)
            if token in [40]:
                self.state = 157
                localctx.body = self.structBody()
                pass
            elif token in [44]:
                self.state = 158
                self.match(MfidlParser.SEMICOLON)
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


    class ServiceDeclContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self.id_ = None # NameContext
            self.base = None # PathContext
            self.agent = None # PathContext
            self.body = None # ServiceBodyContext

        def SERVICE(self):
            return self.getToken(MfidlParser.SERVICE, 0)

        def name(self):
            return self.getTypedRuleContext(MfidlParser.NameContext,0)


        def serviceBody(self):
            return self.getTypedRuleContext(MfidlParser.ServiceBodyContext,0)


        def EXTENDS(self):
            return self.getToken(MfidlParser.EXTENDS, 0)

        def PER(self):
            return self.getToken(MfidlParser.PER, 0)

        def path(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(MfidlParser.PathContext)
            else:
                return self.getTypedRuleContext(MfidlParser.PathContext,i)


        def getRuleIndex(self):
            return MfidlParser.RULE_serviceDecl




    def serviceDecl(self):

        localctx = MfidlParser.ServiceDeclContext(self, self._ctx, self.state)
        self.enterRule(localctx, 22, self.RULE_serviceDecl)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 161
            self.match(MfidlParser.SERVICE)
            self.state = 162
            localctx.id_ = self.name()
            self.state = 165
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            if _la==7:
                self.state = 163
                self.match(MfidlParser.EXTENDS)
                self.state = 164
                localctx.base = self.path()


            self.state = 169
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            if _la==12:
                self.state = 167
                self.match(MfidlParser.PER)
                self.state = 168
                localctx.agent = self.path()


            self.state = 171
            localctx.body = self.serviceBody()
        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class TopicDeclContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self.id_ = None # NameContext
            self.agent = None # PathContext
            self.of = None # TypeContext
            self._annotation = None # AnnotationContext
            self.annotations = list() # of AnnotationContexts

        def TOPIC(self):
            return self.getToken(MfidlParser.TOPIC, 0)

        def COLON(self):
            return self.getToken(MfidlParser.COLON, 0)

        def SEMICOLON(self):
            return self.getToken(MfidlParser.SEMICOLON, 0)

        def name(self):
            return self.getTypedRuleContext(MfidlParser.NameContext,0)


        def type_(self):
            return self.getTypedRuleContext(MfidlParser.TypeContext,0)


        def PER(self):
            return self.getToken(MfidlParser.PER, 0)

        def path(self):
            return self.getTypedRuleContext(MfidlParser.PathContext,0)


        def annotation(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(MfidlParser.AnnotationContext)
            else:
                return self.getTypedRuleContext(MfidlParser.AnnotationContext,i)


        def getRuleIndex(self):
            return MfidlParser.RULE_topicDecl




    def topicDecl(self):

        localctx = MfidlParser.TopicDeclContext(self, self._ctx, self.state)
        self.enterRule(localctx, 24, self.RULE_topicDecl)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 173
            self.match(MfidlParser.TOPIC)
            self.state = 174
            localctx.id_ = self.name()
            self.state = 177
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            if _la==12:
                self.state = 175
                self.match(MfidlParser.PER)
                self.state = 176
                localctx.agent = self.path()


            self.state = 179
            self.match(MfidlParser.COLON)
            self.state = 180
            localctx.of = self.type_()
            self.state = 184
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            while _la==29:
                self.state = 181
                localctx._annotation = self.annotation()
                localctx.annotations.append(localctx._annotation)
                self.state = 186
                self._errHandler.sync(self)
                _la = self._input.LA(1)

            self.state = 187
            self.match(MfidlParser.SEMICOLON)
        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class EnumBodyContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self.opening = None # Token
            self._enumMember = None # EnumMemberContext
            self.members = list() # of EnumMemberContexts

        def CLOSE(self):
            return self.getToken(MfidlParser.CLOSE, 0)

        def OPEN_BRACE(self):
            return self.getToken(MfidlParser.OPEN_BRACE, 0)

        def enumMember(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(MfidlParser.EnumMemberContext)
            else:
                return self.getTypedRuleContext(MfidlParser.EnumMemberContext,i)


        def COMMA(self, i:int=None):
            if i is None:
                return self.getTokens(MfidlParser.COMMA)
            else:
                return self.getToken(MfidlParser.COMMA, i)

        def getRuleIndex(self):
            return MfidlParser.RULE_enumBody




    def enumBody(self):

        localctx = MfidlParser.EnumBodyContext(self, self._ctx, self.state)
        self.enterRule(localctx, 26, self.RULE_enumBody)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 189
            localctx.opening = self.match(MfidlParser.OPEN_BRACE)
            self.state = 200
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            if (((_la) & ~0x3f) == 0 and ((1 << _la) & 537919486) != 0):
                self.state = 190
                localctx._enumMember = self.enumMember()
                localctx.members.append(localctx._enumMember)
                self.state = 197
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                while _la==33:
                    self.state = 191
                    self.match(MfidlParser.COMMA)
                    self.state = 193
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)
                    if (((_la) & ~0x3f) == 0 and ((1 << _la) & 537919486) != 0):
                        self.state = 192
                        localctx._enumMember = self.enumMember()
                        localctx.members.append(localctx._enumMember)


                    self.state = 199
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)



            self.state = 202
            self.match(MfidlParser.CLOSE)
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
            self._annotation = None # AnnotationContext
            self.annotations = list() # of AnnotationContexts
            self.id_ = None # NameContext
            self.number = None # ValueContext
            self.after = list() # of AnnotationContexts

        def name(self):
            return self.getTypedRuleContext(MfidlParser.NameContext,0)


        def ASSIGN(self):
            return self.getToken(MfidlParser.ASSIGN, 0)

        def annotation(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(MfidlParser.AnnotationContext)
            else:
                return self.getTypedRuleContext(MfidlParser.AnnotationContext,i)


        def value(self):
            return self.getTypedRuleContext(MfidlParser.ValueContext,0)


        def getRuleIndex(self):
            return MfidlParser.RULE_enumMember




    def enumMember(self):

        localctx = MfidlParser.EnumMemberContext(self, self._ctx, self.state)
        self.enterRule(localctx, 28, self.RULE_enumMember)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 207
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            while _la==29:
                self.state = 204
                localctx._annotation = self.annotation()
                localctx.annotations.append(localctx._annotation)
                self.state = 209
                self._errHandler.sync(self)
                _la = self._input.LA(1)

            self.state = 210
            localctx.id_ = self.name()
            self.state = 213
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            if _la==30:
                self.state = 211
                self.match(MfidlParser.ASSIGN)
                self.state = 212
                localctx.number = self.value()


            self.state = 218
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            while _la==29:
                self.state = 215
                localctx._annotation = self.annotation()
                localctx.after.append(localctx._annotation)
                self.state = 220
                self._errHandler.sync(self)
                _la = self._input.LA(1)

        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class StructBodyContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self.opening = None # Token
            self._structMember = None # StructMemberContext
            self.members = list() # of StructMemberContexts

        def CLOSE(self):
            return self.getToken(MfidlParser.CLOSE, 0)

        def OPEN_BRACE(self):
            return self.getToken(MfidlParser.OPEN_BRACE, 0)

        def structMember(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(MfidlParser.StructMemberContext)
            else:
                return self.getTypedRuleContext(MfidlParser.StructMemberContext,i)


        def getRuleIndex(self):
            return MfidlParser.RULE_structBody




    def structBody(self):

        localctx = MfidlParser.StructBodyContext(self, self._ctx, self.state)
        self.enterRule(localctx, 30, self.RULE_structBody)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 221
            localctx.opening = self.match(MfidlParser.OPEN_BRACE)
            self.state = 225
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            while (((_la) & ~0x3f) == 0 and ((1 << _la) & 564133886) != 0):
                self.state = 222
                localctx._structMember = self.structMember()
                localctx.members.append(localctx._structMember)
                self.state = 227
                self._errHandler.sync(self)
                _la = self._input.LA(1)

            self.state = 228
            self.match(MfidlParser.CLOSE)
        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class StructMemberContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self._annotation = None # AnnotationContext
            self.annotations = list() # of AnnotationContexts
            self.number = None # IntegerContext
            self.id_ = None # NameContext
            self.of = None # TypeContext
            self.after = list() # of AnnotationContexts
            self.init = None # ValueContext
            self._reservedItem = None # ReservedItemContext
            self.reserved = list() # of ReservedItemContexts

        def SEMICOLON(self):
            return self.getToken(MfidlParser.SEMICOLON, 0)

        def name(self):
            return self.getTypedRuleContext(MfidlParser.NameContext,0)


        def COLON(self, i:int=None):
            if i is None:
                return self.getTokens(MfidlParser.COLON)
            else:
                return self.getToken(MfidlParser.COLON, i)

        def type_(self):
            return self.getTypedRuleContext(MfidlParser.TypeContext,0)


        def reservedItem(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(MfidlParser.ReservedItemContext)
            else:
                return self.getTypedRuleContext(MfidlParser.ReservedItemContext,i)


        def annotation(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(MfidlParser.AnnotationContext)
            else:
                return self.getTypedRuleContext(MfidlParser.AnnotationContext,i)


        def integer(self):
            return self.getTypedRuleContext(MfidlParser.IntegerContext,0)


        def ASSIGN(self):
            return self.getToken(MfidlParser.ASSIGN, 0)

        def COMMA(self, i:int=None):
            if i is None:
                return self.getTokens(MfidlParser.COMMA)
            else:
                return self.getToken(MfidlParser.COMMA, i)

        def value(self):
            return self.getTypedRuleContext(MfidlParser.ValueContext,0)


        def getRuleIndex(self):
            return MfidlParser.RULE_structMember




    def structMember(self):

        localctx = MfidlParser.StructMemberContext(self, self._ctx, self.state)
        self.enterRule(localctx, 32, self.RULE_structMember)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 233
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            while _la==29:
                self.state = 230
                localctx._annotation = self.annotation()
                localctx.annotations.append(localctx._annotation)
                self.state = 235
                self._errHandler.sync(self)
                _la = self._input.LA(1)

            self.state = 239
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            if (((_la) & ~0x3f) == 0 and ((1 << _la) & 26214400) != 0):
                self.state = 236
                localctx.number = self.integer()
                self.state = 237
                self.match(MfidlParser.COLON)


            self.state = 241
            localctx.id_ = self.name()
            self.state = 268
            self._errHandler.sync(self)
            token = self._input.LA(1)
            if token in [32]:
                self.state = 242
                self.match(MfidlParser.COLON)
                self.state = 243
                localctx.of = self.type_()
                self.state = 247
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                while _la==29:
                    self.state = 244
                    localctx._annotation = self.annotation()
                    localctx.after.append(localctx._annotation)
                    self.state = 249
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)

                self.state = 258
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                if _la==30:
                    self.state = 250
                    self.match(MfidlParser.ASSIGN)
                    self.state = 251
                    localctx.init = self.value()
                    self.state = 255
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)
                    while _la==29:
                        self.state = 252
                        localctx._annotation = self.annotation()
                        localctx.after.append(localctx._annotation)
                        self.state = 257
                        self._errHandler.sync(self)
                        _la = self._input.LA(1)



                pass
            elif token in [20, 23, 24, 25]:
                self.state = 260
                localctx._reservedItem = self.reservedItem()
                localctx.reserved.append(localctx._reservedItem)
                self.state = 265
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                while _la==33:
                    self.state = 261
                    self.match(MfidlParser.COMMA)
                    self.state = 262
                    localctx._reservedItem = self.reservedItem()
                    localctx.reserved.append(localctx._reservedItem)
                    self.state = 267
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)

                pass
            else:
                raise NoViableAltException(self)

            self.state = 270
            self.match(MfidlParser.SEMICOLON)
        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class ReservedItemContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self.text = None # Token
            self.low = None # IntegerContext
            self.high = None # IntegerContext

        def STRING(self):
            return self.getToken(MfidlParser.STRING, 0)

        def integer(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(MfidlParser.IntegerContext)
            else:
                return self.getTypedRuleContext(MfidlParser.IntegerContext,i)


        def DOTS(self):
            return self.getToken(MfidlParser.DOTS, 0)

        def getRuleIndex(self):
            return MfidlParser.RULE_reservedItem




    def reservedItem(self):

        localctx = MfidlParser.ReservedItemContext(self, self._ctx, self.state)
        self.enterRule(localctx, 34, self.RULE_reservedItem)
        self._la = 0 # Token type
        try:
            self.state = 278
            self._errHandler.sync(self)
            token = self._input.LA(1)
            if token in [25]:
                self.enterOuterAlt(localctx, 1)
                self.state = 272
                localctx.text = self.match(MfidlParser.STRING)
                pass
            elif token in [20, 23, 24]:
                self.enterOuterAlt(localctx, 2)
                self.state = 273
                localctx.low = self.integer()
                self.state = 276
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                if _la==28:
                    self.state = 274
                    self.match(MfidlParser.DOTS)
                    self.state = 275
                    localctx.high = self.integer()


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


    class ServiceBodyContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self.opening = None # Token
            self._method = None # MethodContext
            self.methods = list() # of MethodContexts

        def CLOSE(self):
            return self.getToken(MfidlParser.CLOSE, 0)

        def OPEN_BRACE(self):
            return self.getToken(MfidlParser.OPEN_BRACE, 0)

        def method(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(MfidlParser.MethodContext)
            else:
                return self.getTypedRuleContext(MfidlParser.MethodContext,i)


        def getRuleIndex(self):
            return MfidlParser.RULE_serviceBody




    def serviceBody(self):

        localctx = MfidlParser.ServiceBodyContext(self, self._ctx, self.state)
        self.enterRule(localctx, 36, self.RULE_serviceBody)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 280
            localctx.opening = self.match(MfidlParser.OPEN_BRACE)
            self.state = 284
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            while (((_la) & ~0x3f) == 0 and ((1 << _la) & 537919486) != 0):
                self.state = 281
                localctx._method = self.method()
                localctx.methods.append(localctx._method)
                self.state = 286
                self._errHandler.sync(self)
                _la = self._input.LA(1)

            self.state = 287
            self.match(MfidlParser.CLOSE)
        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class MethodContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self._annotation = None # AnnotationContext
            self.annotations = list() # of AnnotationContexts
            self.id_ = None # NameContext
            self.params = None # FieldListContext
            self.arrow = None # Token
            self.results = None # FieldListContext
            self.of = None # TypeContext
            self.after = list() # of AnnotationContexts
            self._path = None # PathContext
            self.errors = list() # of PathContexts

        def SEMICOLON(self):
            return self.getToken(MfidlParser.SEMICOLON, 0)

        def name(self):
            return self.getTypedRuleContext(MfidlParser.NameContext,0)


        def fieldList(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(MfidlParser.FieldListContext)
            else:
                return self.getTypedRuleContext(MfidlParser.FieldListContext,i)


        def THROWS(self):
            return self.getToken(MfidlParser.THROWS, 0)

        def annotation(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(MfidlParser.AnnotationContext)
            else:
                return self.getTypedRuleContext(MfidlParser.AnnotationContext,i)


        def ARROW(self):
            return self.getToken(MfidlParser.ARROW, 0)

        def path(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(MfidlParser.PathContext)
            else:
                return self.getTypedRuleContext(MfidlParser.PathContext,i)


        def type_(self):
            return self.getTypedRuleContext(MfidlParser.TypeContext,0)


        def COMMA(self, i:int=None):
            if i is None:
                return self.getTokens(MfidlParser.COMMA)
            else:
                return self.getToken(MfidlParser.COMMA, i)

        def getRuleIndex(self):
            return MfidlParser.RULE_method




    def method(self):

        localctx = MfidlParser.MethodContext(self, self._ctx, self.state)
        self.enterRule(localctx, 38, self.RULE_method)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 292
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            while _la==29:
                self.state = 289
                localctx._annotation = self.annotation()
                localctx.annotations.append(localctx._annotation)
                self.state = 294
                self._errHandler.sync(self)
                _la = self._input.LA(1)

            self.state = 295
            localctx.id_ = self.name()
            self.state = 296
            localctx.params = self.fieldList()
            self.state = 308
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            if _la==27:
                self.state = 297
                localctx.arrow = self.match(MfidlParser.ARROW)
                self.state = 306
                self._errHandler.sync(self)
                token = self._input.LA(1)
                if token in [38]:
                    self.state = 298
                    localctx.results = self.fieldList()
                    pass
                elif token in [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19]:
                    self.state = 299
                    localctx.of = self.type_()
                    self.state = 303
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)
                    while _la==29:
                        self.state = 300
                        localctx._annotation = self.annotation()
                        localctx.after.append(localctx._annotation)
                        self.state = 305
                        self._errHandler.sync(self)
                        _la = self._input.LA(1)

                    pass
                else:
                    raise NoViableAltException(self)



            self.state = 319
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            if _la==15:
                self.state = 310
                self.match(MfidlParser.THROWS)
                self.state = 311
                localctx._path = self.path()
                localctx.errors.append(localctx._path)
                self.state = 316
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                while _la==33:
                    self.state = 312
                    self.match(MfidlParser.COMMA)
                    self.state = 313
                    localctx._path = self.path()
                    localctx.errors.append(localctx._path)
                    self.state = 318
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)



            self.state = 321
            self.match(MfidlParser.SEMICOLON)
        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class FieldListContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self.opening = None # Token
            self._field = None # FieldContext
            self.fields = list() # of FieldContexts

        def RPAREN(self):
            return self.getToken(MfidlParser.RPAREN, 0)

        def LPAREN(self):
            return self.getToken(MfidlParser.LPAREN, 0)

        def field(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(MfidlParser.FieldContext)
            else:
                return self.getTypedRuleContext(MfidlParser.FieldContext,i)


        def COMMA(self, i:int=None):
            if i is None:
                return self.getTokens(MfidlParser.COMMA)
            else:
                return self.getToken(MfidlParser.COMMA, i)

        def getRuleIndex(self):
            return MfidlParser.RULE_fieldList




    def fieldList(self):

        localctx = MfidlParser.FieldListContext(self, self._ctx, self.state)
        self.enterRule(localctx, 40, self.RULE_fieldList)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 323
            localctx.opening = self.match(MfidlParser.LPAREN)
            self.state = 334
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            if (((_la) & ~0x3f) == 0 and ((1 << _la) & 564133886) != 0):
                self.state = 324
                localctx._field = self.field()
                localctx.fields.append(localctx._field)
                self.state = 331
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                while _la==33:
                    self.state = 325
                    self.match(MfidlParser.COMMA)
                    self.state = 327
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)
                    if (((_la) & ~0x3f) == 0 and ((1 << _la) & 564133886) != 0):
                        self.state = 326
                        localctx._field = self.field()
                        localctx.fields.append(localctx._field)


                    self.state = 333
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)



            self.state = 336
            self.match(MfidlParser.RPAREN)
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
            self._annotation = None # AnnotationContext
            self.annotations = list() # of AnnotationContexts
            self.number = None # IntegerContext
            self.id_ = None # NameContext
            self.of = None # TypeContext
            self.after = list() # of AnnotationContexts
            self.init = None # ValueContext

        def COLON(self, i:int=None):
            if i is None:
                return self.getTokens(MfidlParser.COLON)
            else:
                return self.getToken(MfidlParser.COLON, i)

        def name(self):
            return self.getTypedRuleContext(MfidlParser.NameContext,0)


        def type_(self):
            return self.getTypedRuleContext(MfidlParser.TypeContext,0)


        def ASSIGN(self):
            return self.getToken(MfidlParser.ASSIGN, 0)

        def annotation(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(MfidlParser.AnnotationContext)
            else:
                return self.getTypedRuleContext(MfidlParser.AnnotationContext,i)


        def integer(self):
            return self.getTypedRuleContext(MfidlParser.IntegerContext,0)


        def value(self):
            return self.getTypedRuleContext(MfidlParser.ValueContext,0)


        def getRuleIndex(self):
            return MfidlParser.RULE_field




    def field(self):

        localctx = MfidlParser.FieldContext(self, self._ctx, self.state)
        self.enterRule(localctx, 42, self.RULE_field)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 341
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            while _la==29:
                self.state = 338
                localctx._annotation = self.annotation()
                localctx.annotations.append(localctx._annotation)
                self.state = 343
                self._errHandler.sync(self)
                _la = self._input.LA(1)

            self.state = 347
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            if (((_la) & ~0x3f) == 0 and ((1 << _la) & 26214400) != 0):
                self.state = 344
                localctx.number = self.integer()
                self.state = 345
                self.match(MfidlParser.COLON)


            self.state = 349
            localctx.id_ = self.name()
            self.state = 350
            self.match(MfidlParser.COLON)
            self.state = 351
            localctx.of = self.type_()
            self.state = 355
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            while _la==29:
                self.state = 352
                localctx._annotation = self.annotation()
                localctx.after.append(localctx._annotation)
                self.state = 357
                self._errHandler.sync(self)
                _la = self._input.LA(1)

            self.state = 366
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            if _la==30:
                self.state = 358
                self.match(MfidlParser.ASSIGN)
                self.state = 359
                localctx.init = self.value()
                self.state = 363
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                while _la==29:
                    self.state = 360
                    localctx._annotation = self.annotation()
                    localctx.after.append(localctx._annotation)
                    self.state = 365
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)



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
            self.id_ = None # PathContext
            self._typeArgument = None # TypeArgumentContext
            self.arguments = list() # of TypeArgumentContexts
            self._QUESTION = None # Token
            self.optional = list() # of Tokens

        def path(self):
            return self.getTypedRuleContext(MfidlParser.PathContext,0)


        def LESS(self):
            return self.getToken(MfidlParser.LESS, 0)

        def GREATER(self):
            return self.getToken(MfidlParser.GREATER, 0)

        def typeArgument(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(MfidlParser.TypeArgumentContext)
            else:
                return self.getTypedRuleContext(MfidlParser.TypeArgumentContext,i)


        def QUESTION(self, i:int=None):
            if i is None:
                return self.getTokens(MfidlParser.QUESTION)
            else:
                return self.getToken(MfidlParser.QUESTION, i)

        def COMMA(self, i:int=None):
            if i is None:
                return self.getTokens(MfidlParser.COMMA)
            else:
                return self.getToken(MfidlParser.COMMA, i)

        def getRuleIndex(self):
            return MfidlParser.RULE_type




    def type_(self):

        localctx = MfidlParser.TypeContext(self, self._ctx, self.state)
        self.enterRule(localctx, 44, self.RULE_type)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 368
            localctx.id_ = self.path()
            self.state = 380
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            if _la==37:
                self.state = 369
                self.match(MfidlParser.LESS)
                self.state = 370
                localctx._typeArgument = self.typeArgument()
                localctx.arguments.append(localctx._typeArgument)
                self.state = 375
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                while _la==33:
                    self.state = 371
                    self.match(MfidlParser.COMMA)
                    self.state = 372
                    localctx._typeArgument = self.typeArgument()
                    localctx.arguments.append(localctx._typeArgument)
                    self.state = 377
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)

                self.state = 378
                self.match(MfidlParser.GREATER)


            self.state = 385
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            while _la==41:
                self.state = 382
                localctx._QUESTION = self.match(MfidlParser.QUESTION)
                localctx.optional.append(localctx._QUESTION)
                self.state = 387
                self._errHandler.sync(self)
                _la = self._input.LA(1)

        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class TypeArgumentContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self.of = None # TypeContext
            self._annotation = None # AnnotationContext
            self.annotations = list() # of AnnotationContexts
            self.number = None # IntegerContext

        def type_(self):
            return self.getTypedRuleContext(MfidlParser.TypeContext,0)


        def annotation(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(MfidlParser.AnnotationContext)
            else:
                return self.getTypedRuleContext(MfidlParser.AnnotationContext,i)


        def integer(self):
            return self.getTypedRuleContext(MfidlParser.IntegerContext,0)


        def getRuleIndex(self):
            return MfidlParser.RULE_typeArgument




    def typeArgument(self):

        localctx = MfidlParser.TypeArgumentContext(self, self._ctx, self.state)
        self.enterRule(localctx, 46, self.RULE_typeArgument)
        self._la = 0 # Token type
        try:
            self.state = 396
            self._errHandler.sync(self)
            token = self._input.LA(1)
            if token in [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19]:
                self.enterOuterAlt(localctx, 1)
                self.state = 388
                localctx.of = self.type_()
                self.state = 392
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                while _la==29:
                    self.state = 389
                    localctx._annotation = self.annotation()
                    localctx.annotations.append(localctx._annotation)
                    self.state = 394
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)

                pass
            elif token in [20, 23, 24]:
                self.enterOuterAlt(localctx, 2)
                self.state = 395
                localctx.number = self.integer()
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


    class AnnotationContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self.id_ = None # PathContext
            self.opening = None # Token
            self._argument = None # ArgumentContext
            self.arguments = list() # of ArgumentContexts

        def AT(self):
            return self.getToken(MfidlParser.AT, 0)

        def path(self):
            return self.getTypedRuleContext(MfidlParser.PathContext,0)


        def RPAREN(self):
            return self.getToken(MfidlParser.RPAREN, 0)

        def LPAREN(self):
            return self.getToken(MfidlParser.LPAREN, 0)

        def argument(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(MfidlParser.ArgumentContext)
            else:
                return self.getTypedRuleContext(MfidlParser.ArgumentContext,i)


        def COMMA(self, i:int=None):
            if i is None:
                return self.getTokens(MfidlParser.COMMA)
            else:
                return self.getToken(MfidlParser.COMMA, i)

        def getRuleIndex(self):
            return MfidlParser.RULE_annotation




    def annotation(self):

        localctx = MfidlParser.AnnotationContext(self, self._ctx, self.state)
        self.enterRule(localctx, 48, self.RULE_annotation)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 398
            self.match(MfidlParser.AT)
            self.state = 399
            localctx.id_ = self.path()
            self.state = 414
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            if _la==38:
                self.state = 400
                localctx.opening = self.match(MfidlParser.LPAREN)
                self.state = 411
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                if (((_la) & ~0x3f) == 0 and ((1 << _la) & 1718389571582) != 0):
                    self.state = 401
                    localctx._argument = self.argument()
                    localctx.arguments.append(localctx._argument)
                    self.state = 408
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)
                    while _la==33:
                        self.state = 402
                        self.match(MfidlParser.COMMA)
                        self.state = 404
                        self._errHandler.sync(self)
                        _la = self._input.LA(1)
                        if (((_la) & ~0x3f) == 0 and ((1 << _la) & 1718389571582) != 0):
                            self.state = 403
                            localctx._argument = self.argument()
                            localctx.arguments.append(localctx._argument)


                        self.state = 410
                        self._errHandler.sync(self)
                        _la = self._input.LA(1)



                self.state = 413
                self.match(MfidlParser.RPAREN)


        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class ArgumentContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self.left = None # ValueContext
            self.right = None # ValueContext
            self.dots = None # Token

        def value(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(MfidlParser.ValueContext)
            else:
                return self.getTypedRuleContext(MfidlParser.ValueContext,i)


        def ASSIGN(self):
            return self.getToken(MfidlParser.ASSIGN, 0)

        def DOTS(self):
            return self.getToken(MfidlParser.DOTS, 0)

        def getRuleIndex(self):
            return MfidlParser.RULE_argument




    def argument(self):

        localctx = MfidlParser.ArgumentContext(self, self._ctx, self.state)
        self.enterRule(localctx, 50, self.RULE_argument)
        self._la = 0 # Token type
        try:
            self.state = 427
            self._errHandler.sync(self)
            token = self._input.LA(1)
            if token in [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 36, 39, 40]:
                self.enterOuterAlt(localctx, 1)
                self.state = 416
                localctx.left = self.value()
                self.state = 423
                self._errHandler.sync(self)
                token = self._input.LA(1)
                if token in [30]:
                    self.state = 417
                    self.match(MfidlParser.ASSIGN)
                    self.state = 418
                    localctx.right = self.value()
                    pass
                elif token in [28]:
                    self.state = 419
                    localctx.dots = self.match(MfidlParser.DOTS)
                    self.state = 421
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)
                    if (((_la) & ~0x3f) == 0 and ((1 << _la) & 1718121136126) != 0):
                        self.state = 420
                        localctx.right = self.value()


                    pass
                elif token in [33, 43]:
                    pass
                else:
                    pass
                pass
            elif token in [28]:
                self.enterOuterAlt(localctx, 2)
                self.state = 425
                localctx.dots = self.match(MfidlParser.DOTS)
                self.state = 426
                localctx.right = self.value()
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


    class ValueContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self.minus = None # Token
            self.number = None # Token
            self.id_ = None # PathContext
            self.text = None # Token
            self.list_ = None # Token
            self._value = None # ValueContext
            self.elements = list() # of ValueContexts
            self.brace = None # Token
            self._entry = None # EntryContext
            self.entries = list() # of EntryContexts

        def MINUS(self):
            return self.getToken(MfidlParser.MINUS, 0)

        def path(self):
            return self.getTypedRuleContext(MfidlParser.PathContext,0)


        def INTEGER(self):
            return self.getToken(MfidlParser.INTEGER, 0)

        def HEX(self):
            return self.getToken(MfidlParser.HEX, 0)

        def FLOAT(self):
            return self.getToken(MfidlParser.FLOAT, 0)

        def DURATION(self):
            return self.getToken(MfidlParser.DURATION, 0)

        def BAD_NUMBER(self):
            return self.getToken(MfidlParser.BAD_NUMBER, 0)

        def STRING(self):
            return self.getToken(MfidlParser.STRING, 0)

        def BAD_STRING(self):
            return self.getToken(MfidlParser.BAD_STRING, 0)

        def RBRACKET(self):
            return self.getToken(MfidlParser.RBRACKET, 0)

        def LBRACKET(self):
            return self.getToken(MfidlParser.LBRACKET, 0)

        def value(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(MfidlParser.ValueContext)
            else:
                return self.getTypedRuleContext(MfidlParser.ValueContext,i)


        def COMMA(self, i:int=None):
            if i is None:
                return self.getTokens(MfidlParser.COMMA)
            else:
                return self.getToken(MfidlParser.COMMA, i)

        def CLOSE(self):
            return self.getToken(MfidlParser.CLOSE, 0)

        def OPEN_BRACE(self):
            return self.getToken(MfidlParser.OPEN_BRACE, 0)

        def entry(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(MfidlParser.EntryContext)
            else:
                return self.getTypedRuleContext(MfidlParser.EntryContext,i)


        def getRuleIndex(self):
            return MfidlParser.RULE_value




    def value(self):

        localctx = MfidlParser.ValueContext(self, self._ctx, self.state)
        self.enterRule(localctx, 52, self.RULE_value)
        self._la = 0 # Token type
        try:
            self.state = 465
            self._errHandler.sync(self)
            token = self._input.LA(1)
            if token in [39]:
                self.enterOuterAlt(localctx, 1)
                self.state = 429
                localctx.minus = self.match(MfidlParser.MINUS)
                self.state = 432
                self._errHandler.sync(self)
                token = self._input.LA(1)
                if token in [20, 21, 22, 23, 24]:
                    self.state = 430
                    localctx.number = self._input.LT(1)
                    _la = self._input.LA(1)
                    if not((((_la) & ~0x3f) == 0 and ((1 << _la) & 32505856) != 0)):
                        localctx.number = self._errHandler.recoverInline(self)
                    else:
                        self._errHandler.reportMatch(self)
                        self.consume()
                    pass
                elif token in [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19]:
                    self.state = 431
                    localctx.id_ = self.path()
                    pass
                else:
                    raise NoViableAltException(self)

                pass
            elif token in [20, 21, 22, 23, 24]:
                self.enterOuterAlt(localctx, 2)
                self.state = 434
                localctx.number = self._input.LT(1)
                _la = self._input.LA(1)
                if not((((_la) & ~0x3f) == 0 and ((1 << _la) & 32505856) != 0)):
                    localctx.number = self._errHandler.recoverInline(self)
                else:
                    self._errHandler.reportMatch(self)
                    self.consume()
                pass
            elif token in [25, 26]:
                self.enterOuterAlt(localctx, 3)
                self.state = 435
                localctx.text = self._input.LT(1)
                _la = self._input.LA(1)
                if not(_la==25 or _la==26):
                    localctx.text = self._errHandler.recoverInline(self)
                else:
                    self._errHandler.reportMatch(self)
                    self.consume()
                pass
            elif token in [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19]:
                self.enterOuterAlt(localctx, 4)
                self.state = 436
                localctx.id_ = self.path()
                pass
            elif token in [36]:
                self.enterOuterAlt(localctx, 5)
                self.state = 437
                localctx.list_ = self.match(MfidlParser.LBRACKET)
                self.state = 448
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                if (((_la) & ~0x3f) == 0 and ((1 << _la) & 1718121136126) != 0):
                    self.state = 438
                    localctx._value = self.value()
                    localctx.elements.append(localctx._value)
                    self.state = 445
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)
                    while _la==33:
                        self.state = 439
                        self.match(MfidlParser.COMMA)
                        self.state = 441
                        self._errHandler.sync(self)
                        _la = self._input.LA(1)
                        if (((_la) & ~0x3f) == 0 and ((1 << _la) & 1718121136126) != 0):
                            self.state = 440
                            localctx._value = self.value()
                            localctx.elements.append(localctx._value)


                        self.state = 447
                        self._errHandler.sync(self)
                        _la = self._input.LA(1)



                self.state = 450
                self.match(MfidlParser.RBRACKET)
                pass
            elif token in [40]:
                self.enterOuterAlt(localctx, 6)
                self.state = 451
                localctx.brace = self.match(MfidlParser.OPEN_BRACE)
                self.state = 462
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                if (((_la) & ~0x3f) == 0 and ((1 << _la) & 1718121136126) != 0):
                    self.state = 452
                    localctx._entry = self.entry()
                    localctx.entries.append(localctx._entry)
                    self.state = 459
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)
                    while _la==33:
                        self.state = 453
                        self.match(MfidlParser.COMMA)
                        self.state = 455
                        self._errHandler.sync(self)
                        _la = self._input.LA(1)
                        if (((_la) & ~0x3f) == 0 and ((1 << _la) & 1718121136126) != 0):
                            self.state = 454
                            localctx._entry = self.entry()
                            localctx.entries.append(localctx._entry)


                        self.state = 461
                        self._errHandler.sync(self)
                        _la = self._input.LA(1)



                self.state = 464
                self.match(MfidlParser.CLOSE)
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


    class EntryContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self.key = None # ValueContext
            self.held = None # ValueContext

        def COLON(self):
            return self.getToken(MfidlParser.COLON, 0)

        def value(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(MfidlParser.ValueContext)
            else:
                return self.getTypedRuleContext(MfidlParser.ValueContext,i)


        def getRuleIndex(self):
            return MfidlParser.RULE_entry




    def entry(self):

        localctx = MfidlParser.EntryContext(self, self._ctx, self.state)
        self.enterRule(localctx, 54, self.RULE_entry)
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 467
            localctx.key = self.value()
            self.state = 468
            self.match(MfidlParser.COLON)
            self.state = 469
            localctx.held = self.value()
        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class IntegerContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self.token = None # Token

        def INTEGER(self):
            return self.getToken(MfidlParser.INTEGER, 0)

        def HEX(self):
            return self.getToken(MfidlParser.HEX, 0)

        def BAD_NUMBER(self):
            return self.getToken(MfidlParser.BAD_NUMBER, 0)

        def getRuleIndex(self):
            return MfidlParser.RULE_integer




    def integer(self):

        localctx = MfidlParser.IntegerContext(self, self._ctx, self.state)
        self.enterRule(localctx, 56, self.RULE_integer)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 471
            localctx.token = self._input.LT(1)
            _la = self._input.LA(1)
            if not((((_la) & ~0x3f) == 0 and ((1 << _la) & 26214400) != 0)):
                localctx.token = self._errHandler.recoverInline(self)
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


    class PathContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self._name = None # NameContext
            self.parts = list() # of NameContexts

        def name(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(MfidlParser.NameContext)
            else:
                return self.getTypedRuleContext(MfidlParser.NameContext,i)


        def DOT(self, i:int=None):
            if i is None:
                return self.getTokens(MfidlParser.DOT)
            else:
                return self.getToken(MfidlParser.DOT, i)

        def getRuleIndex(self):
            return MfidlParser.RULE_path




    def path(self):

        localctx = MfidlParser.PathContext(self, self._ctx, self.state)
        self.enterRule(localctx, 58, self.RULE_path)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 473
            localctx._name = self.name()
            localctx.parts.append(localctx._name)
            self.state = 478
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            while _la==34:
                self.state = 474
                self.match(MfidlParser.DOT)
                self.state = 475
                localctx._name = self.name()
                localctx.parts.append(localctx._name)
                self.state = 480
                self._errHandler.sync(self)
                _la = self._input.LA(1)

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
            self.token = None # Token

        def NAME(self):
            return self.getToken(MfidlParser.NAME, 0)

        def AGENT(self):
            return self.getToken(MfidlParser.AGENT, 0)

        def ANNOTATION(self):
            return self.getToken(MfidlParser.ANNOTATION, 0)

        def AS(self):
            return self.getToken(MfidlParser.AS, 0)

        def CONST(self):
            return self.getToken(MfidlParser.CONST, 0)

        def ENUM(self):
            return self.getToken(MfidlParser.ENUM, 0)

        def ERROR(self):
            return self.getToken(MfidlParser.ERROR, 0)

        def EXTENDS(self):
            return self.getToken(MfidlParser.EXTENDS, 0)

        def FLAGS(self):
            return self.getToken(MfidlParser.FLAGS, 0)

        def IMPORT(self):
            return self.getToken(MfidlParser.IMPORT, 0)

        def MODULE(self):
            return self.getToken(MfidlParser.MODULE, 0)

        def OPEN(self):
            return self.getToken(MfidlParser.OPEN, 0)

        def PER(self):
            return self.getToken(MfidlParser.PER, 0)

        def SERVICE(self):
            return self.getToken(MfidlParser.SERVICE, 0)

        def STRUCT(self):
            return self.getToken(MfidlParser.STRUCT, 0)

        def THROWS(self):
            return self.getToken(MfidlParser.THROWS, 0)

        def TOPIC(self):
            return self.getToken(MfidlParser.TOPIC, 0)

        def TYPE(self):
            return self.getToken(MfidlParser.TYPE, 0)

        def UNION(self):
            return self.getToken(MfidlParser.UNION, 0)

        def getRuleIndex(self):
            return MfidlParser.RULE_name




    def name(self):

        localctx = MfidlParser.NameContext(self, self._ctx, self.state)
        self.enterRule(localctx, 60, self.RULE_name)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 481
            localctx.token = self._input.LT(1)
            _la = self._input.LA(1)
            if not((((_la) & ~0x3f) == 0 and ((1 << _la) & 1048574) != 0)):
                localctx.token = self._errHandler.recoverInline(self)
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





