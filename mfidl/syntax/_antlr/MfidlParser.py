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
        4,1,54,521,2,0,7,0,2,1,7,1,2,2,7,2,2,3,7,3,2,4,7,4,2,5,7,5,2,6,7,
        6,2,7,7,7,2,8,7,8,2,9,7,9,2,10,7,10,2,11,7,11,2,12,7,12,2,13,7,13,
        2,14,7,14,2,15,7,15,2,16,7,16,2,17,7,17,2,18,7,18,2,19,7,19,2,20,
        7,20,2,21,7,21,2,22,7,22,2,23,7,23,2,24,7,24,2,25,7,25,2,26,7,26,
        2,27,7,27,2,28,7,28,2,29,7,29,2,30,7,30,2,31,7,31,1,0,5,0,66,8,0,
        10,0,12,0,69,9,0,1,0,1,0,1,1,5,1,74,8,1,10,1,12,1,77,9,1,1,1,1,1,
        3,1,81,8,1,1,2,1,2,1,2,1,2,1,2,1,2,1,2,1,2,1,2,1,2,3,2,93,8,2,1,
        3,1,3,1,3,1,3,1,4,1,4,1,4,1,4,3,4,103,8,4,1,4,1,4,1,5,1,5,1,5,1,
        5,1,5,5,5,112,8,5,10,5,12,5,115,9,5,1,5,1,5,1,5,1,5,1,6,1,6,1,6,
        1,6,1,6,5,6,126,8,6,10,6,12,6,129,9,6,1,6,1,6,1,7,1,7,1,7,1,7,1,
        7,1,7,1,8,3,8,140,8,8,1,8,1,8,1,8,1,8,3,8,146,8,8,1,8,1,8,1,9,1,
        9,1,9,1,9,3,9,154,8,9,1,9,1,9,1,10,1,10,1,10,1,10,3,10,162,8,10,
        1,11,1,11,1,11,1,11,3,11,168,8,11,1,11,1,11,3,11,172,8,11,1,11,1,
        11,1,12,1,12,1,12,1,12,3,12,180,8,12,1,12,1,12,1,12,5,12,185,8,12,
        10,12,12,12,188,9,12,1,12,1,12,1,13,1,13,1,13,1,13,3,13,196,8,13,
        5,13,198,8,13,10,13,12,13,201,9,13,3,13,203,8,13,1,13,1,13,1,14,
        5,14,208,8,14,10,14,12,14,211,9,14,1,14,1,14,1,14,3,14,216,8,14,
        1,14,5,14,219,8,14,10,14,12,14,222,9,14,1,15,1,15,5,15,226,8,15,
        10,15,12,15,229,9,15,1,15,1,15,1,16,5,16,234,8,16,10,16,12,16,237,
        9,16,1,16,1,16,1,16,1,16,3,16,243,8,16,1,16,1,16,1,16,1,16,5,16,
        249,8,16,10,16,12,16,252,9,16,1,16,1,16,1,16,5,16,257,8,16,10,16,
        12,16,260,9,16,3,16,262,8,16,1,16,1,16,1,16,5,16,267,8,16,10,16,
        12,16,270,9,16,3,16,272,8,16,1,16,1,16,3,16,276,8,16,1,17,1,17,1,
        17,1,17,1,17,3,17,283,8,17,1,17,1,17,1,17,1,17,3,17,289,8,17,1,17,
        1,17,1,17,1,17,1,17,1,17,1,17,5,17,298,8,17,10,17,12,17,301,9,17,
        1,17,1,17,3,17,305,8,17,1,18,1,18,1,18,1,18,3,18,311,8,18,3,18,313,
        8,18,1,19,1,19,5,19,317,8,19,10,19,12,19,320,9,19,1,19,1,19,1,20,
        5,20,325,8,20,10,20,12,20,328,9,20,1,20,1,20,1,20,1,20,1,20,1,20,
        1,20,5,20,337,8,20,10,20,12,20,340,9,20,3,20,342,8,20,3,20,344,8,
        20,1,20,1,20,1,20,1,20,5,20,350,8,20,10,20,12,20,353,9,20,3,20,355,
        8,20,1,20,1,20,3,20,359,8,20,1,21,1,21,1,21,1,21,3,21,365,8,21,5,
        21,367,8,21,10,21,12,21,370,9,21,3,21,372,8,21,1,21,1,21,1,22,5,
        22,377,8,22,10,22,12,22,380,9,22,1,22,1,22,1,22,3,22,385,8,22,1,
        22,1,22,1,22,1,22,5,22,391,8,22,10,22,12,22,394,9,22,1,22,1,22,1,
        22,5,22,399,8,22,10,22,12,22,402,9,22,3,22,404,8,22,1,23,1,23,1,
        23,1,23,1,23,5,23,411,8,23,10,23,12,23,414,9,23,1,23,1,23,3,23,418,
        8,23,1,23,5,23,421,8,23,10,23,12,23,424,9,23,1,24,1,24,5,24,428,
        8,24,10,24,12,24,431,9,24,1,24,3,24,434,8,24,1,25,1,25,1,25,1,25,
        1,25,1,25,3,25,442,8,25,5,25,444,8,25,10,25,12,25,447,9,25,3,25,
        449,8,25,1,25,3,25,452,8,25,1,26,1,26,1,26,1,26,1,26,3,26,459,8,
        26,3,26,461,8,26,1,26,1,26,3,26,465,8,26,1,27,1,27,1,27,3,27,470,
        8,27,1,27,1,27,1,27,1,27,1,27,1,27,1,27,3,27,479,8,27,5,27,481,8,
        27,10,27,12,27,484,9,27,3,27,486,8,27,1,27,1,27,1,27,1,27,1,27,3,
        27,493,8,27,5,27,495,8,27,10,27,12,27,498,9,27,3,27,500,8,27,1,27,
        3,27,503,8,27,1,28,1,28,1,28,1,28,1,29,1,29,1,30,1,30,1,30,5,30,
        514,8,30,10,30,12,30,517,9,30,1,31,1,31,1,31,0,0,32,0,2,4,6,8,10,
        12,14,16,18,20,22,24,26,28,30,32,34,36,38,40,42,44,46,48,50,52,54,
        56,58,60,62,0,5,4,0,6,6,10,10,18,18,22,22,1,0,24,28,1,0,29,30,2,
        0,24,24,27,28,1,0,5,23,575,0,67,1,0,0,0,2,80,1,0,0,0,4,92,1,0,0,
        0,6,94,1,0,0,0,8,98,1,0,0,0,10,106,1,0,0,0,12,120,1,0,0,0,14,132,
        1,0,0,0,16,139,1,0,0,0,18,149,1,0,0,0,20,157,1,0,0,0,22,163,1,0,
        0,0,24,175,1,0,0,0,26,191,1,0,0,0,28,209,1,0,0,0,30,223,1,0,0,0,
        32,235,1,0,0,0,34,304,1,0,0,0,36,312,1,0,0,0,38,314,1,0,0,0,40,326,
        1,0,0,0,42,360,1,0,0,0,44,378,1,0,0,0,46,405,1,0,0,0,48,433,1,0,
        0,0,50,435,1,0,0,0,52,464,1,0,0,0,54,502,1,0,0,0,56,504,1,0,0,0,
        58,508,1,0,0,0,60,510,1,0,0,0,62,518,1,0,0,0,64,66,3,2,1,0,65,64,
        1,0,0,0,66,69,1,0,0,0,67,65,1,0,0,0,67,68,1,0,0,0,68,70,1,0,0,0,
        69,67,1,0,0,0,70,71,5,0,0,1,71,1,1,0,0,0,72,74,3,50,25,0,73,72,1,
        0,0,0,74,77,1,0,0,0,75,73,1,0,0,0,75,76,1,0,0,0,76,78,1,0,0,0,77,
        75,1,0,0,0,78,81,3,4,2,0,79,81,5,48,0,0,80,75,1,0,0,0,80,79,1,0,
        0,0,81,3,1,0,0,0,82,93,3,6,3,0,83,93,3,8,4,0,84,93,3,10,5,0,85,93,
        3,12,6,0,86,93,3,14,7,0,87,93,3,16,8,0,88,93,3,18,9,0,89,93,3,20,
        10,0,90,93,3,22,11,0,91,93,3,24,12,0,92,82,1,0,0,0,92,83,1,0,0,0,
        92,84,1,0,0,0,92,85,1,0,0,0,92,86,1,0,0,0,92,87,1,0,0,0,92,88,1,
        0,0,0,92,89,1,0,0,0,92,90,1,0,0,0,92,91,1,0,0,0,93,5,1,0,0,0,94,
        95,5,14,0,0,95,96,3,60,30,0,96,97,5,48,0,0,97,7,1,0,0,0,98,99,5,
        13,0,0,99,102,5,29,0,0,100,101,5,7,0,0,101,103,3,62,31,0,102,100,
        1,0,0,0,102,103,1,0,0,0,103,104,1,0,0,0,104,105,5,48,0,0,105,9,1,
        0,0,0,106,107,5,8,0,0,107,108,3,62,31,0,108,109,5,36,0,0,109,113,
        3,46,23,0,110,112,3,50,25,0,111,110,1,0,0,0,112,115,1,0,0,0,113,
        111,1,0,0,0,113,114,1,0,0,0,114,116,1,0,0,0,115,113,1,0,0,0,116,
        117,5,34,0,0,117,118,3,54,27,0,118,119,5,48,0,0,119,11,1,0,0,0,120,
        121,5,21,0,0,121,122,3,62,31,0,122,123,5,34,0,0,123,127,3,46,23,
        0,124,126,3,50,25,0,125,124,1,0,0,0,126,129,1,0,0,0,127,125,1,0,
        0,0,127,128,1,0,0,0,128,130,1,0,0,0,129,127,1,0,0,0,130,131,5,48,
        0,0,131,13,1,0,0,0,132,133,5,5,0,0,133,134,3,62,31,0,134,135,5,36,
        0,0,135,136,3,46,23,0,136,137,5,48,0,0,137,15,1,0,0,0,138,140,5,
        15,0,0,139,138,1,0,0,0,139,140,1,0,0,0,140,141,1,0,0,0,141,142,5,
        9,0,0,142,145,3,62,31,0,143,144,5,36,0,0,144,146,3,46,23,0,145,143,
        1,0,0,0,145,146,1,0,0,0,146,147,1,0,0,0,147,148,3,26,13,0,148,17,
        1,0,0,0,149,150,5,12,0,0,150,153,3,62,31,0,151,152,5,36,0,0,152,
        154,3,46,23,0,153,151,1,0,0,0,153,154,1,0,0,0,154,155,1,0,0,0,155,
        156,3,26,13,0,156,19,1,0,0,0,157,158,7,0,0,0,158,161,3,62,31,0,159,
        162,3,30,15,0,160,162,5,48,0,0,161,159,1,0,0,0,161,160,1,0,0,0,162,
        21,1,0,0,0,163,164,5,17,0,0,164,167,3,62,31,0,165,166,5,11,0,0,166,
        168,3,60,30,0,167,165,1,0,0,0,167,168,1,0,0,0,168,171,1,0,0,0,169,
        170,5,16,0,0,170,172,3,60,30,0,171,169,1,0,0,0,171,172,1,0,0,0,172,
        173,1,0,0,0,173,174,3,38,19,0,174,23,1,0,0,0,175,176,5,20,0,0,176,
        179,3,62,31,0,177,178,5,16,0,0,178,180,3,60,30,0,179,177,1,0,0,0,
        179,180,1,0,0,0,180,181,1,0,0,0,181,182,5,36,0,0,182,186,3,46,23,
        0,183,185,3,50,25,0,184,183,1,0,0,0,185,188,1,0,0,0,186,184,1,0,
        0,0,186,187,1,0,0,0,187,189,1,0,0,0,188,186,1,0,0,0,189,190,5,48,
        0,0,190,25,1,0,0,0,191,202,5,44,0,0,192,199,3,28,14,0,193,195,5,
        37,0,0,194,196,3,28,14,0,195,194,1,0,0,0,195,196,1,0,0,0,196,198,
        1,0,0,0,197,193,1,0,0,0,198,201,1,0,0,0,199,197,1,0,0,0,199,200,
        1,0,0,0,200,203,1,0,0,0,201,199,1,0,0,0,202,192,1,0,0,0,202,203,
        1,0,0,0,203,204,1,0,0,0,204,205,5,35,0,0,205,27,1,0,0,0,206,208,
        3,50,25,0,207,206,1,0,0,0,208,211,1,0,0,0,209,207,1,0,0,0,209,210,
        1,0,0,0,210,212,1,0,0,0,211,209,1,0,0,0,212,215,3,62,31,0,213,214,
        5,34,0,0,214,216,3,54,27,0,215,213,1,0,0,0,215,216,1,0,0,0,216,220,
        1,0,0,0,217,219,3,50,25,0,218,217,1,0,0,0,219,222,1,0,0,0,220,218,
        1,0,0,0,220,221,1,0,0,0,221,29,1,0,0,0,222,220,1,0,0,0,223,227,5,
        44,0,0,224,226,3,32,16,0,225,224,1,0,0,0,226,229,1,0,0,0,227,225,
        1,0,0,0,227,228,1,0,0,0,228,230,1,0,0,0,229,227,1,0,0,0,230,231,
        5,35,0,0,231,31,1,0,0,0,232,234,3,50,25,0,233,232,1,0,0,0,234,237,
        1,0,0,0,235,233,1,0,0,0,235,236,1,0,0,0,236,275,1,0,0,0,237,235,
        1,0,0,0,238,276,3,34,17,0,239,240,3,58,29,0,240,241,5,36,0,0,241,
        243,1,0,0,0,242,239,1,0,0,0,242,243,1,0,0,0,243,244,1,0,0,0,244,
        271,3,62,31,0,245,246,5,36,0,0,246,250,3,46,23,0,247,249,3,50,25,
        0,248,247,1,0,0,0,249,252,1,0,0,0,250,248,1,0,0,0,250,251,1,0,0,
        0,251,261,1,0,0,0,252,250,1,0,0,0,253,254,5,34,0,0,254,258,3,54,
        27,0,255,257,3,50,25,0,256,255,1,0,0,0,257,260,1,0,0,0,258,256,1,
        0,0,0,258,259,1,0,0,0,259,262,1,0,0,0,260,258,1,0,0,0,261,253,1,
        0,0,0,261,262,1,0,0,0,262,272,1,0,0,0,263,268,3,36,18,0,264,265,
        5,37,0,0,265,267,3,36,18,0,266,264,1,0,0,0,267,270,1,0,0,0,268,266,
        1,0,0,0,268,269,1,0,0,0,269,272,1,0,0,0,270,268,1,0,0,0,271,245,
        1,0,0,0,271,263,1,0,0,0,272,273,1,0,0,0,273,274,5,48,0,0,274,276,
        1,0,0,0,275,238,1,0,0,0,275,242,1,0,0,0,276,33,1,0,0,0,277,278,5,
        1,0,0,278,279,3,62,31,0,279,280,3,30,15,0,280,305,1,0,0,0,281,283,
        5,3,0,0,282,281,1,0,0,0,282,283,1,0,0,0,283,284,1,0,0,0,284,285,
        5,2,0,0,285,288,3,62,31,0,286,287,5,36,0,0,287,289,3,46,23,0,288,
        286,1,0,0,0,288,289,1,0,0,0,289,290,1,0,0,0,290,291,3,26,13,0,291,
        305,1,0,0,0,292,293,5,4,0,0,293,294,3,62,31,0,294,295,5,34,0,0,295,
        299,3,46,23,0,296,298,3,50,25,0,297,296,1,0,0,0,298,301,1,0,0,0,
        299,297,1,0,0,0,299,300,1,0,0,0,300,302,1,0,0,0,301,299,1,0,0,0,
        302,303,5,48,0,0,303,305,1,0,0,0,304,277,1,0,0,0,304,282,1,0,0,0,
        304,292,1,0,0,0,305,35,1,0,0,0,306,313,5,29,0,0,307,310,3,58,29,
        0,308,309,5,32,0,0,309,311,3,58,29,0,310,308,1,0,0,0,310,311,1,0,
        0,0,311,313,1,0,0,0,312,306,1,0,0,0,312,307,1,0,0,0,313,37,1,0,0,
        0,314,318,5,44,0,0,315,317,3,40,20,0,316,315,1,0,0,0,317,320,1,0,
        0,0,318,316,1,0,0,0,318,319,1,0,0,0,319,321,1,0,0,0,320,318,1,0,
        0,0,321,322,5,35,0,0,322,39,1,0,0,0,323,325,3,50,25,0,324,323,1,
        0,0,0,325,328,1,0,0,0,326,324,1,0,0,0,326,327,1,0,0,0,327,358,1,
        0,0,0,328,326,1,0,0,0,329,359,3,34,17,0,330,331,3,62,31,0,331,343,
        3,42,21,0,332,341,5,31,0,0,333,342,3,42,21,0,334,338,3,46,23,0,335,
        337,3,50,25,0,336,335,1,0,0,0,337,340,1,0,0,0,338,336,1,0,0,0,338,
        339,1,0,0,0,339,342,1,0,0,0,340,338,1,0,0,0,341,333,1,0,0,0,341,
        334,1,0,0,0,342,344,1,0,0,0,343,332,1,0,0,0,343,344,1,0,0,0,344,
        354,1,0,0,0,345,346,5,19,0,0,346,351,3,60,30,0,347,348,5,37,0,0,
        348,350,3,60,30,0,349,347,1,0,0,0,350,353,1,0,0,0,351,349,1,0,0,
        0,351,352,1,0,0,0,352,355,1,0,0,0,353,351,1,0,0,0,354,345,1,0,0,
        0,354,355,1,0,0,0,355,356,1,0,0,0,356,357,5,48,0,0,357,359,1,0,0,
        0,358,329,1,0,0,0,358,330,1,0,0,0,359,41,1,0,0,0,360,371,5,42,0,
        0,361,368,3,44,22,0,362,364,5,37,0,0,363,365,3,44,22,0,364,363,1,
        0,0,0,364,365,1,0,0,0,365,367,1,0,0,0,366,362,1,0,0,0,367,370,1,
        0,0,0,368,366,1,0,0,0,368,369,1,0,0,0,369,372,1,0,0,0,370,368,1,
        0,0,0,371,361,1,0,0,0,371,372,1,0,0,0,372,373,1,0,0,0,373,374,5,
        47,0,0,374,43,1,0,0,0,375,377,3,50,25,0,376,375,1,0,0,0,377,380,
        1,0,0,0,378,376,1,0,0,0,378,379,1,0,0,0,379,384,1,0,0,0,380,378,
        1,0,0,0,381,382,3,58,29,0,382,383,5,36,0,0,383,385,1,0,0,0,384,381,
        1,0,0,0,384,385,1,0,0,0,385,386,1,0,0,0,386,387,3,62,31,0,387,388,
        5,36,0,0,388,392,3,46,23,0,389,391,3,50,25,0,390,389,1,0,0,0,391,
        394,1,0,0,0,392,390,1,0,0,0,392,393,1,0,0,0,393,403,1,0,0,0,394,
        392,1,0,0,0,395,396,5,34,0,0,396,400,3,54,27,0,397,399,3,50,25,0,
        398,397,1,0,0,0,399,402,1,0,0,0,400,398,1,0,0,0,400,401,1,0,0,0,
        401,404,1,0,0,0,402,400,1,0,0,0,403,395,1,0,0,0,403,404,1,0,0,0,
        404,45,1,0,0,0,405,417,3,60,30,0,406,407,5,41,0,0,407,412,3,48,24,
        0,408,409,5,37,0,0,409,411,3,48,24,0,410,408,1,0,0,0,411,414,1,0,
        0,0,412,410,1,0,0,0,412,413,1,0,0,0,413,415,1,0,0,0,414,412,1,0,
        0,0,415,416,5,39,0,0,416,418,1,0,0,0,417,406,1,0,0,0,417,418,1,0,
        0,0,418,422,1,0,0,0,419,421,5,45,0,0,420,419,1,0,0,0,421,424,1,0,
        0,0,422,420,1,0,0,0,422,423,1,0,0,0,423,47,1,0,0,0,424,422,1,0,0,
        0,425,429,3,46,23,0,426,428,3,50,25,0,427,426,1,0,0,0,428,431,1,
        0,0,0,429,427,1,0,0,0,429,430,1,0,0,0,430,434,1,0,0,0,431,429,1,
        0,0,0,432,434,3,58,29,0,433,425,1,0,0,0,433,432,1,0,0,0,434,49,1,
        0,0,0,435,436,5,33,0,0,436,451,3,60,30,0,437,448,5,42,0,0,438,445,
        3,52,26,0,439,441,5,37,0,0,440,442,3,52,26,0,441,440,1,0,0,0,441,
        442,1,0,0,0,442,444,1,0,0,0,443,439,1,0,0,0,444,447,1,0,0,0,445,
        443,1,0,0,0,445,446,1,0,0,0,446,449,1,0,0,0,447,445,1,0,0,0,448,
        438,1,0,0,0,448,449,1,0,0,0,449,450,1,0,0,0,450,452,5,47,0,0,451,
        437,1,0,0,0,451,452,1,0,0,0,452,51,1,0,0,0,453,460,3,54,27,0,454,
        455,5,34,0,0,455,461,3,54,27,0,456,458,5,32,0,0,457,459,3,54,27,
        0,458,457,1,0,0,0,458,459,1,0,0,0,459,461,1,0,0,0,460,454,1,0,0,
        0,460,456,1,0,0,0,460,461,1,0,0,0,461,465,1,0,0,0,462,463,5,32,0,
        0,463,465,3,54,27,0,464,453,1,0,0,0,464,462,1,0,0,0,465,53,1,0,0,
        0,466,469,5,43,0,0,467,470,7,1,0,0,468,470,3,60,30,0,469,467,1,0,
        0,0,469,468,1,0,0,0,470,503,1,0,0,0,471,503,7,1,0,0,472,503,7,2,
        0,0,473,503,3,60,30,0,474,485,5,40,0,0,475,482,3,54,27,0,476,478,
        5,37,0,0,477,479,3,54,27,0,478,477,1,0,0,0,478,479,1,0,0,0,479,481,
        1,0,0,0,480,476,1,0,0,0,481,484,1,0,0,0,482,480,1,0,0,0,482,483,
        1,0,0,0,483,486,1,0,0,0,484,482,1,0,0,0,485,475,1,0,0,0,485,486,
        1,0,0,0,486,487,1,0,0,0,487,503,5,46,0,0,488,499,5,44,0,0,489,496,
        3,56,28,0,490,492,5,37,0,0,491,493,3,56,28,0,492,491,1,0,0,0,492,
        493,1,0,0,0,493,495,1,0,0,0,494,490,1,0,0,0,495,498,1,0,0,0,496,
        494,1,0,0,0,496,497,1,0,0,0,497,500,1,0,0,0,498,496,1,0,0,0,499,
        489,1,0,0,0,499,500,1,0,0,0,500,501,1,0,0,0,501,503,5,35,0,0,502,
        466,1,0,0,0,502,471,1,0,0,0,502,472,1,0,0,0,502,473,1,0,0,0,502,
        474,1,0,0,0,502,488,1,0,0,0,503,55,1,0,0,0,504,505,3,54,27,0,505,
        506,5,36,0,0,506,507,3,54,27,0,507,57,1,0,0,0,508,509,7,3,0,0,509,
        59,1,0,0,0,510,515,3,62,31,0,511,512,5,38,0,0,512,514,3,62,31,0,
        513,511,1,0,0,0,514,517,1,0,0,0,515,513,1,0,0,0,515,516,1,0,0,0,
        516,61,1,0,0,0,517,515,1,0,0,0,518,519,7,4,0,0,519,63,1,0,0,0,73,
        67,75,80,92,102,113,127,139,145,153,161,167,171,179,186,195,199,
        202,209,215,220,227,235,242,250,258,261,268,271,275,282,288,299,
        304,310,312,318,326,338,341,343,351,354,358,364,368,371,378,384,
        392,400,403,412,417,422,429,433,441,445,448,451,458,460,464,469,
        478,482,485,492,496,499,502,515
    ]

class MfidlParser ( Parser ):

    grammarFileName = "MfidlParser.g4"

    atn = ATNDeserializer().deserialize(serializedATN())

    decisionsToDFA = [ DFA(ds, i) for i, ds in enumerate(atn.decisionToState) ]

    sharedContextCache = PredictionContextCache()

    literalNames = [ "<INVALID>", "<INVALID>", "<INVALID>", "<INVALID>", 
                     "<INVALID>", "'agent'", "'annotation'", "'as'", "'const'", 
                     "'enum'", "'error'", "'extends'", "'flags'", "'import'", 
                     "'module'", "'open'", "'per'", "'service'", "'struct'", 
                     "'throws'", "'topic'", "'type'", "'union'", "<INVALID>", 
                     "<INVALID>", "<INVALID>", "<INVALID>", "<INVALID>", 
                     "<INVALID>", "<INVALID>", "<INVALID>", "'->'", "'..'", 
                     "'@'", "'='", "'}'", "':'", "','", "'.'", "'>'", "'['", 
                     "'<'", "'('", "'-'", "'{'", "'?'", "']'", "')'", "';'" ]

    symbolicNames = [ "<INVALID>", "INNER_STRUCT", "INNER_ENUM", "INNER_OPEN", 
                      "INNER_TYPE", "AGENT", "ANNOTATION", "AS", "CONST", 
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
    RULE_innerDecl = 17
    RULE_reservedItem = 18
    RULE_serviceBody = 19
    RULE_method = 20
    RULE_fieldList = 21
    RULE_field = 22
    RULE_type = 23
    RULE_typeArgument = 24
    RULE_annotation = 25
    RULE_argument = 26
    RULE_value = 27
    RULE_entry = 28
    RULE_integer = 29
    RULE_path = 30
    RULE_name = 31

    ruleNames =  [ "file", "item", "decl", "moduleDecl", "importDecl", "constDecl", 
                   "aliasDecl", "agentDecl", "enumDecl", "flagsDecl", "structDecl", 
                   "serviceDecl", "topicDecl", "enumBody", "enumMember", 
                   "structBody", "structMember", "innerDecl", "reservedItem", 
                   "serviceBody", "method", "fieldList", "field", "type", 
                   "typeArgument", "annotation", "argument", "value", "entry", 
                   "integer", "path", "name" ]

    EOF = Token.EOF
    INNER_STRUCT=1
    INNER_ENUM=2
    INNER_OPEN=3
    INNER_TYPE=4
    AGENT=5
    ANNOTATION=6
    AS=7
    CONST=8
    ENUM=9
    ERROR=10
    EXTENDS=11
    FLAGS=12
    IMPORT=13
    MODULE=14
    OPEN=15
    PER=16
    SERVICE=17
    STRUCT=18
    THROWS=19
    TOPIC=20
    TYPE=21
    UNION=22
    NAME=23
    HEX=24
    FLOAT=25
    DURATION=26
    INTEGER=27
    BAD_NUMBER=28
    STRING=29
    BAD_STRING=30
    ARROW=31
    DOTS=32
    AT=33
    ASSIGN=34
    CLOSE=35
    COLON=36
    COMMA=37
    DOT=38
    GREATER=39
    LBRACKET=40
    LESS=41
    LPAREN=42
    MINUS=43
    OPEN_BRACE=44
    QUESTION=45
    RBRACKET=46
    RPAREN=47
    SEMICOLON=48
    DOC_COMMENT=49
    LINE_COMMENT=50
    BLOCK_COMMENT=51
    OPEN_COMMENT=52
    SPACE=53
    BAD=54

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
            self.state = 67
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            while (((_la) & ~0x3f) == 0 and ((1 << _la) & 281483574441824) != 0):
                self.state = 64
                localctx._item = self.item()
                localctx.items.append(localctx._item)
                self.state = 69
                self._errHandler.sync(self)
                _la = self._input.LA(1)

            self.state = 70
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
            self.state = 80
            self._errHandler.sync(self)
            token = self._input.LA(1)
            if token in [5, 6, 8, 9, 10, 12, 13, 14, 15, 17, 18, 20, 21, 22, 33]:
                self.enterOuterAlt(localctx, 1)
                self.state = 75
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                while _la==33:
                    self.state = 72
                    localctx._annotation = self.annotation()
                    localctx.annotations.append(localctx._annotation)
                    self.state = 77
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)

                self.state = 78
                localctx.declaration = self.decl()
                pass
            elif token in [48]:
                self.enterOuterAlt(localctx, 2)
                self.state = 79
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
            self.state = 92
            self._errHandler.sync(self)
            token = self._input.LA(1)
            if token in [14]:
                self.enterOuterAlt(localctx, 1)
                self.state = 82
                localctx.a = self.moduleDecl()
                pass
            elif token in [13]:
                self.enterOuterAlt(localctx, 2)
                self.state = 83
                localctx.b = self.importDecl()
                pass
            elif token in [8]:
                self.enterOuterAlt(localctx, 3)
                self.state = 84
                localctx.c = self.constDecl()
                pass
            elif token in [21]:
                self.enterOuterAlt(localctx, 4)
                self.state = 85
                localctx.d = self.aliasDecl()
                pass
            elif token in [5]:
                self.enterOuterAlt(localctx, 5)
                self.state = 86
                localctx.e = self.agentDecl()
                pass
            elif token in [9, 15]:
                self.enterOuterAlt(localctx, 6)
                self.state = 87
                localctx.f = self.enumDecl()
                pass
            elif token in [12]:
                self.enterOuterAlt(localctx, 7)
                self.state = 88
                localctx.g = self.flagsDecl()
                pass
            elif token in [6, 10, 18, 22]:
                self.enterOuterAlt(localctx, 8)
                self.state = 89
                localctx.h = self.structDecl()
                pass
            elif token in [17]:
                self.enterOuterAlt(localctx, 9)
                self.state = 90
                localctx.i = self.serviceDecl()
                pass
            elif token in [20]:
                self.enterOuterAlt(localctx, 10)
                self.state = 91
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
            self.state = 94
            self.match(MfidlParser.MODULE)
            self.state = 95
            localctx.id_ = self.path()
            self.state = 96
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
            self.state = 98
            self.match(MfidlParser.IMPORT)
            self.state = 99
            localctx.target = self.match(MfidlParser.STRING)
            self.state = 102
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            if _la==7:
                self.state = 100
                self.match(MfidlParser.AS)
                self.state = 101
                localctx.alias = self.name()


            self.state = 104
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
            self.state = 106
            self.match(MfidlParser.CONST)
            self.state = 107
            localctx.id_ = self.name()
            self.state = 108
            self.match(MfidlParser.COLON)
            self.state = 109
            localctx.of = self.type_()
            self.state = 113
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            while _la==33:
                self.state = 110
                localctx._annotation = self.annotation()
                localctx.annotations.append(localctx._annotation)
                self.state = 115
                self._errHandler.sync(self)
                _la = self._input.LA(1)

            self.state = 116
            self.match(MfidlParser.ASSIGN)
            self.state = 117
            localctx.init = self.value()
            self.state = 118
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
            self.state = 120
            self.match(MfidlParser.TYPE)
            self.state = 121
            localctx.id_ = self.name()
            self.state = 122
            self.match(MfidlParser.ASSIGN)
            self.state = 123
            localctx.of = self.type_()
            self.state = 127
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            while _la==33:
                self.state = 124
                localctx._annotation = self.annotation()
                localctx.annotations.append(localctx._annotation)
                self.state = 129
                self._errHandler.sync(self)
                _la = self._input.LA(1)

            self.state = 130
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
            self.state = 132
            self.match(MfidlParser.AGENT)
            self.state = 133
            localctx.id_ = self.name()
            self.state = 134
            self.match(MfidlParser.COLON)
            self.state = 135
            localctx.of = self.type_()
            self.state = 136
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
            self.state = 139
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            if _la==15:
                self.state = 138
                localctx.open_ = self.match(MfidlParser.OPEN)


            self.state = 141
            self.match(MfidlParser.ENUM)
            self.state = 142
            localctx.id_ = self.name()
            self.state = 145
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            if _la==36:
                self.state = 143
                self.match(MfidlParser.COLON)
                self.state = 144
                localctx.base = self.type_()


            self.state = 147
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
            self.state = 149
            self.match(MfidlParser.FLAGS)
            self.state = 150
            localctx.id_ = self.name()
            self.state = 153
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            if _la==36:
                self.state = 151
                self.match(MfidlParser.COLON)
                self.state = 152
                localctx.base = self.type_()


            self.state = 155
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
            self.state = 157
            localctx.kind = self._input.LT(1)
            _la = self._input.LA(1)
            if not((((_la) & ~0x3f) == 0 and ((1 << _la) & 4457536) != 0)):
                localctx.kind = self._errHandler.recoverInline(self)
            else:
                self._errHandler.reportMatch(self)
                self.consume()
            self.state = 158
            localctx.id_ = self.name()
            self.state = 161
            self._errHandler.sync(self)
            token = self._input.LA(1)
            if token in [44]:
                self.state = 159
                localctx.body = self.structBody()
                pass
            elif token in [48]:
                self.state = 160
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
            self.state = 163
            self.match(MfidlParser.SERVICE)
            self.state = 164
            localctx.id_ = self.name()
            self.state = 167
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            if _la==11:
                self.state = 165
                self.match(MfidlParser.EXTENDS)
                self.state = 166
                localctx.base = self.path()


            self.state = 171
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            if _la==16:
                self.state = 169
                self.match(MfidlParser.PER)
                self.state = 170
                localctx.agent = self.path()


            self.state = 173
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
            self.state = 175
            self.match(MfidlParser.TOPIC)
            self.state = 176
            localctx.id_ = self.name()
            self.state = 179
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            if _la==16:
                self.state = 177
                self.match(MfidlParser.PER)
                self.state = 178
                localctx.agent = self.path()


            self.state = 181
            self.match(MfidlParser.COLON)
            self.state = 182
            localctx.of = self.type_()
            self.state = 186
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            while _la==33:
                self.state = 183
                localctx._annotation = self.annotation()
                localctx.annotations.append(localctx._annotation)
                self.state = 188
                self._errHandler.sync(self)
                _la = self._input.LA(1)

            self.state = 189
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
            self.state = 191
            localctx.opening = self.match(MfidlParser.OPEN_BRACE)
            self.state = 202
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            if (((_la) & ~0x3f) == 0 and ((1 << _la) & 8606711776) != 0):
                self.state = 192
                localctx._enumMember = self.enumMember()
                localctx.members.append(localctx._enumMember)
                self.state = 199
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                while _la==37:
                    self.state = 193
                    self.match(MfidlParser.COMMA)
                    self.state = 195
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)
                    if (((_la) & ~0x3f) == 0 and ((1 << _la) & 8606711776) != 0):
                        self.state = 194
                        localctx._enumMember = self.enumMember()
                        localctx.members.append(localctx._enumMember)


                    self.state = 201
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)



            self.state = 204
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
            self.state = 209
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            while _la==33:
                self.state = 206
                localctx._annotation = self.annotation()
                localctx.annotations.append(localctx._annotation)
                self.state = 211
                self._errHandler.sync(self)
                _la = self._input.LA(1)

            self.state = 212
            localctx.id_ = self.name()
            self.state = 215
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            if _la==34:
                self.state = 213
                self.match(MfidlParser.ASSIGN)
                self.state = 214
                localctx.number = self.value()


            self.state = 220
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            while _la==33:
                self.state = 217
                localctx._annotation = self.annotation()
                localctx.after.append(localctx._annotation)
                self.state = 222
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
            self.state = 223
            localctx.opening = self.match(MfidlParser.OPEN_BRACE)
            self.state = 227
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            while (((_la) & ~0x3f) == 0 and ((1 << _la) & 9026142206) != 0):
                self.state = 224
                localctx._structMember = self.structMember()
                localctx.members.append(localctx._structMember)
                self.state = 229
                self._errHandler.sync(self)
                _la = self._input.LA(1)

            self.state = 230
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
            self.inner = None # InnerDeclContext
            self.number = None # IntegerContext
            self.id_ = None # NameContext
            self.of = None # TypeContext
            self.after = list() # of AnnotationContexts
            self.init = None # ValueContext
            self._reservedItem = None # ReservedItemContext
            self.reserved = list() # of ReservedItemContexts

        def SEMICOLON(self):
            return self.getToken(MfidlParser.SEMICOLON, 0)

        def innerDecl(self):
            return self.getTypedRuleContext(MfidlParser.InnerDeclContext,0)


        def name(self):
            return self.getTypedRuleContext(MfidlParser.NameContext,0)


        def annotation(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(MfidlParser.AnnotationContext)
            else:
                return self.getTypedRuleContext(MfidlParser.AnnotationContext,i)


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
            self.state = 235
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            while _la==33:
                self.state = 232
                localctx._annotation = self.annotation()
                localctx.annotations.append(localctx._annotation)
                self.state = 237
                self._errHandler.sync(self)
                _la = self._input.LA(1)

            self.state = 275
            self._errHandler.sync(self)
            token = self._input.LA(1)
            if token in [1, 2, 3, 4]:
                self.state = 238
                localctx.inner = self.innerDecl()
                pass
            elif token in [5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 27, 28]:
                self.state = 242
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                if (((_la) & ~0x3f) == 0 and ((1 << _la) & 419430400) != 0):
                    self.state = 239
                    localctx.number = self.integer()
                    self.state = 240
                    self.match(MfidlParser.COLON)


                self.state = 244
                localctx.id_ = self.name()
                self.state = 271
                self._errHandler.sync(self)
                token = self._input.LA(1)
                if token in [36]:
                    self.state = 245
                    self.match(MfidlParser.COLON)
                    self.state = 246
                    localctx.of = self.type_()
                    self.state = 250
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)
                    while _la==33:
                        self.state = 247
                        localctx._annotation = self.annotation()
                        localctx.after.append(localctx._annotation)
                        self.state = 252
                        self._errHandler.sync(self)
                        _la = self._input.LA(1)

                    self.state = 261
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)
                    if _la==34:
                        self.state = 253
                        self.match(MfidlParser.ASSIGN)
                        self.state = 254
                        localctx.init = self.value()
                        self.state = 258
                        self._errHandler.sync(self)
                        _la = self._input.LA(1)
                        while _la==33:
                            self.state = 255
                            localctx._annotation = self.annotation()
                            localctx.after.append(localctx._annotation)
                            self.state = 260
                            self._errHandler.sync(self)
                            _la = self._input.LA(1)



                    pass
                elif token in [24, 27, 28, 29]:
                    self.state = 263
                    localctx._reservedItem = self.reservedItem()
                    localctx.reserved.append(localctx._reservedItem)
                    self.state = 268
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)
                    while _la==37:
                        self.state = 264
                        self.match(MfidlParser.COMMA)
                        self.state = 265
                        localctx._reservedItem = self.reservedItem()
                        localctx.reserved.append(localctx._reservedItem)
                        self.state = 270
                        self._errHandler.sync(self)
                        _la = self._input.LA(1)

                    pass
                else:
                    raise NoViableAltException(self)

                self.state = 273
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


    class InnerDeclContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self.kind = None # Token
            self.id_ = None # NameContext
            self.body = None # StructBodyContext
            self.open_ = None # Token
            self.base = None # TypeContext
            self.members = None # EnumBodyContext
            self.of = None # TypeContext
            self._annotation = None # AnnotationContext
            self.after = list() # of AnnotationContexts

        def INNER_STRUCT(self):
            return self.getToken(MfidlParser.INNER_STRUCT, 0)

        def name(self):
            return self.getTypedRuleContext(MfidlParser.NameContext,0)


        def structBody(self):
            return self.getTypedRuleContext(MfidlParser.StructBodyContext,0)


        def INNER_ENUM(self):
            return self.getToken(MfidlParser.INNER_ENUM, 0)

        def enumBody(self):
            return self.getTypedRuleContext(MfidlParser.EnumBodyContext,0)


        def COLON(self):
            return self.getToken(MfidlParser.COLON, 0)

        def INNER_OPEN(self):
            return self.getToken(MfidlParser.INNER_OPEN, 0)

        def type_(self):
            return self.getTypedRuleContext(MfidlParser.TypeContext,0)


        def ASSIGN(self):
            return self.getToken(MfidlParser.ASSIGN, 0)

        def SEMICOLON(self):
            return self.getToken(MfidlParser.SEMICOLON, 0)

        def INNER_TYPE(self):
            return self.getToken(MfidlParser.INNER_TYPE, 0)

        def annotation(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(MfidlParser.AnnotationContext)
            else:
                return self.getTypedRuleContext(MfidlParser.AnnotationContext,i)


        def getRuleIndex(self):
            return MfidlParser.RULE_innerDecl




    def innerDecl(self):

        localctx = MfidlParser.InnerDeclContext(self, self._ctx, self.state)
        self.enterRule(localctx, 34, self.RULE_innerDecl)
        self._la = 0 # Token type
        try:
            self.state = 304
            self._errHandler.sync(self)
            token = self._input.LA(1)
            if token in [1]:
                self.enterOuterAlt(localctx, 1)
                self.state = 277
                localctx.kind = self.match(MfidlParser.INNER_STRUCT)
                self.state = 278
                localctx.id_ = self.name()
                self.state = 279
                localctx.body = self.structBody()
                pass
            elif token in [2, 3]:
                self.enterOuterAlt(localctx, 2)
                self.state = 282
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                if _la==3:
                    self.state = 281
                    localctx.open_ = self.match(MfidlParser.INNER_OPEN)


                self.state = 284
                localctx.kind = self.match(MfidlParser.INNER_ENUM)
                self.state = 285
                localctx.id_ = self.name()
                self.state = 288
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                if _la==36:
                    self.state = 286
                    self.match(MfidlParser.COLON)
                    self.state = 287
                    localctx.base = self.type_()


                self.state = 290
                localctx.members = self.enumBody()
                pass
            elif token in [4]:
                self.enterOuterAlt(localctx, 3)
                self.state = 292
                localctx.kind = self.match(MfidlParser.INNER_TYPE)
                self.state = 293
                localctx.id_ = self.name()
                self.state = 294
                self.match(MfidlParser.ASSIGN)
                self.state = 295
                localctx.of = self.type_()
                self.state = 299
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                while _la==33:
                    self.state = 296
                    localctx._annotation = self.annotation()
                    localctx.after.append(localctx._annotation)
                    self.state = 301
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)

                self.state = 302
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
        self.enterRule(localctx, 36, self.RULE_reservedItem)
        self._la = 0 # Token type
        try:
            self.state = 312
            self._errHandler.sync(self)
            token = self._input.LA(1)
            if token in [29]:
                self.enterOuterAlt(localctx, 1)
                self.state = 306
                localctx.text = self.match(MfidlParser.STRING)
                pass
            elif token in [24, 27, 28]:
                self.enterOuterAlt(localctx, 2)
                self.state = 307
                localctx.low = self.integer()
                self.state = 310
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                if _la==32:
                    self.state = 308
                    self.match(MfidlParser.DOTS)
                    self.state = 309
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
        self.enterRule(localctx, 38, self.RULE_serviceBody)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 314
            localctx.opening = self.match(MfidlParser.OPEN_BRACE)
            self.state = 318
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            while (((_la) & ~0x3f) == 0 and ((1 << _la) & 8606711806) != 0):
                self.state = 315
                localctx._method = self.method()
                localctx.methods.append(localctx._method)
                self.state = 320
                self._errHandler.sync(self)
                _la = self._input.LA(1)

            self.state = 321
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
            self.inner = None # InnerDeclContext
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

        def innerDecl(self):
            return self.getTypedRuleContext(MfidlParser.InnerDeclContext,0)


        def name(self):
            return self.getTypedRuleContext(MfidlParser.NameContext,0)


        def fieldList(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(MfidlParser.FieldListContext)
            else:
                return self.getTypedRuleContext(MfidlParser.FieldListContext,i)


        def annotation(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(MfidlParser.AnnotationContext)
            else:
                return self.getTypedRuleContext(MfidlParser.AnnotationContext,i)


        def THROWS(self):
            return self.getToken(MfidlParser.THROWS, 0)

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
        self.enterRule(localctx, 40, self.RULE_method)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 326
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            while _la==33:
                self.state = 323
                localctx._annotation = self.annotation()
                localctx.annotations.append(localctx._annotation)
                self.state = 328
                self._errHandler.sync(self)
                _la = self._input.LA(1)

            self.state = 358
            self._errHandler.sync(self)
            token = self._input.LA(1)
            if token in [1, 2, 3, 4]:
                self.state = 329
                localctx.inner = self.innerDecl()
                pass
            elif token in [5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23]:
                self.state = 330
                localctx.id_ = self.name()
                self.state = 331
                localctx.params = self.fieldList()
                self.state = 343
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                if _la==31:
                    self.state = 332
                    localctx.arrow = self.match(MfidlParser.ARROW)
                    self.state = 341
                    self._errHandler.sync(self)
                    token = self._input.LA(1)
                    if token in [42]:
                        self.state = 333
                        localctx.results = self.fieldList()
                        pass
                    elif token in [5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23]:
                        self.state = 334
                        localctx.of = self.type_()
                        self.state = 338
                        self._errHandler.sync(self)
                        _la = self._input.LA(1)
                        while _la==33:
                            self.state = 335
                            localctx._annotation = self.annotation()
                            localctx.after.append(localctx._annotation)
                            self.state = 340
                            self._errHandler.sync(self)
                            _la = self._input.LA(1)

                        pass
                    else:
                        raise NoViableAltException(self)



                self.state = 354
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                if _la==19:
                    self.state = 345
                    self.match(MfidlParser.THROWS)
                    self.state = 346
                    localctx._path = self.path()
                    localctx.errors.append(localctx._path)
                    self.state = 351
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)
                    while _la==37:
                        self.state = 347
                        self.match(MfidlParser.COMMA)
                        self.state = 348
                        localctx._path = self.path()
                        localctx.errors.append(localctx._path)
                        self.state = 353
                        self._errHandler.sync(self)
                        _la = self._input.LA(1)



                self.state = 356
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
        self.enterRule(localctx, 42, self.RULE_fieldList)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 360
            localctx.opening = self.match(MfidlParser.LPAREN)
            self.state = 371
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            if (((_la) & ~0x3f) == 0 and ((1 << _la) & 9026142176) != 0):
                self.state = 361
                localctx._field = self.field()
                localctx.fields.append(localctx._field)
                self.state = 368
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                while _la==37:
                    self.state = 362
                    self.match(MfidlParser.COMMA)
                    self.state = 364
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)
                    if (((_la) & ~0x3f) == 0 and ((1 << _la) & 9026142176) != 0):
                        self.state = 363
                        localctx._field = self.field()
                        localctx.fields.append(localctx._field)


                    self.state = 370
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)



            self.state = 373
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
        self.enterRule(localctx, 44, self.RULE_field)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 378
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            while _la==33:
                self.state = 375
                localctx._annotation = self.annotation()
                localctx.annotations.append(localctx._annotation)
                self.state = 380
                self._errHandler.sync(self)
                _la = self._input.LA(1)

            self.state = 384
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            if (((_la) & ~0x3f) == 0 and ((1 << _la) & 419430400) != 0):
                self.state = 381
                localctx.number = self.integer()
                self.state = 382
                self.match(MfidlParser.COLON)


            self.state = 386
            localctx.id_ = self.name()
            self.state = 387
            self.match(MfidlParser.COLON)
            self.state = 388
            localctx.of = self.type_()
            self.state = 392
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            while _la==33:
                self.state = 389
                localctx._annotation = self.annotation()
                localctx.after.append(localctx._annotation)
                self.state = 394
                self._errHandler.sync(self)
                _la = self._input.LA(1)

            self.state = 403
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            if _la==34:
                self.state = 395
                self.match(MfidlParser.ASSIGN)
                self.state = 396
                localctx.init = self.value()
                self.state = 400
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                while _la==33:
                    self.state = 397
                    localctx._annotation = self.annotation()
                    localctx.after.append(localctx._annotation)
                    self.state = 402
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
        self.enterRule(localctx, 46, self.RULE_type)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 405
            localctx.id_ = self.path()
            self.state = 417
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            if _la==41:
                self.state = 406
                self.match(MfidlParser.LESS)
                self.state = 407
                localctx._typeArgument = self.typeArgument()
                localctx.arguments.append(localctx._typeArgument)
                self.state = 412
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                while _la==37:
                    self.state = 408
                    self.match(MfidlParser.COMMA)
                    self.state = 409
                    localctx._typeArgument = self.typeArgument()
                    localctx.arguments.append(localctx._typeArgument)
                    self.state = 414
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)

                self.state = 415
                self.match(MfidlParser.GREATER)


            self.state = 422
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            while _la==45:
                self.state = 419
                localctx._QUESTION = self.match(MfidlParser.QUESTION)
                localctx.optional.append(localctx._QUESTION)
                self.state = 424
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
        self.enterRule(localctx, 48, self.RULE_typeArgument)
        self._la = 0 # Token type
        try:
            self.state = 433
            self._errHandler.sync(self)
            token = self._input.LA(1)
            if token in [5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23]:
                self.enterOuterAlt(localctx, 1)
                self.state = 425
                localctx.of = self.type_()
                self.state = 429
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                while _la==33:
                    self.state = 426
                    localctx._annotation = self.annotation()
                    localctx.annotations.append(localctx._annotation)
                    self.state = 431
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)

                pass
            elif token in [24, 27, 28]:
                self.enterOuterAlt(localctx, 2)
                self.state = 432
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
        self.enterRule(localctx, 50, self.RULE_annotation)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 435
            self.match(MfidlParser.AT)
            self.state = 436
            localctx.id_ = self.path()
            self.state = 451
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            if _la==42:
                self.state = 437
                localctx.opening = self.match(MfidlParser.LPAREN)
                self.state = 448
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                if (((_la) & ~0x3f) == 0 and ((1 << _la) & 27494233145312) != 0):
                    self.state = 438
                    localctx._argument = self.argument()
                    localctx.arguments.append(localctx._argument)
                    self.state = 445
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)
                    while _la==37:
                        self.state = 439
                        self.match(MfidlParser.COMMA)
                        self.state = 441
                        self._errHandler.sync(self)
                        _la = self._input.LA(1)
                        if (((_la) & ~0x3f) == 0 and ((1 << _la) & 27494233145312) != 0):
                            self.state = 440
                            localctx._argument = self.argument()
                            localctx.arguments.append(localctx._argument)


                        self.state = 447
                        self._errHandler.sync(self)
                        _la = self._input.LA(1)



                self.state = 450
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
        self.enterRule(localctx, 52, self.RULE_argument)
        self._la = 0 # Token type
        try:
            self.state = 464
            self._errHandler.sync(self)
            token = self._input.LA(1)
            if token in [5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 40, 43, 44]:
                self.enterOuterAlt(localctx, 1)
                self.state = 453
                localctx.left = self.value()
                self.state = 460
                self._errHandler.sync(self)
                token = self._input.LA(1)
                if token in [34]:
                    self.state = 454
                    self.match(MfidlParser.ASSIGN)
                    self.state = 455
                    localctx.right = self.value()
                    pass
                elif token in [32]:
                    self.state = 456
                    localctx.dots = self.match(MfidlParser.DOTS)
                    self.state = 458
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)
                    if (((_la) & ~0x3f) == 0 and ((1 << _la) & 27489938178016) != 0):
                        self.state = 457
                        localctx.right = self.value()


                    pass
                elif token in [37, 47]:
                    pass
                else:
                    pass
                pass
            elif token in [32]:
                self.enterOuterAlt(localctx, 2)
                self.state = 462
                localctx.dots = self.match(MfidlParser.DOTS)
                self.state = 463
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
        self.enterRule(localctx, 54, self.RULE_value)
        self._la = 0 # Token type
        try:
            self.state = 502
            self._errHandler.sync(self)
            token = self._input.LA(1)
            if token in [43]:
                self.enterOuterAlt(localctx, 1)
                self.state = 466
                localctx.minus = self.match(MfidlParser.MINUS)
                self.state = 469
                self._errHandler.sync(self)
                token = self._input.LA(1)
                if token in [24, 25, 26, 27, 28]:
                    self.state = 467
                    localctx.number = self._input.LT(1)
                    _la = self._input.LA(1)
                    if not((((_la) & ~0x3f) == 0 and ((1 << _la) & 520093696) != 0)):
                        localctx.number = self._errHandler.recoverInline(self)
                    else:
                        self._errHandler.reportMatch(self)
                        self.consume()
                    pass
                elif token in [5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23]:
                    self.state = 468
                    localctx.id_ = self.path()
                    pass
                else:
                    raise NoViableAltException(self)

                pass
            elif token in [24, 25, 26, 27, 28]:
                self.enterOuterAlt(localctx, 2)
                self.state = 471
                localctx.number = self._input.LT(1)
                _la = self._input.LA(1)
                if not((((_la) & ~0x3f) == 0 and ((1 << _la) & 520093696) != 0)):
                    localctx.number = self._errHandler.recoverInline(self)
                else:
                    self._errHandler.reportMatch(self)
                    self.consume()
                pass
            elif token in [29, 30]:
                self.enterOuterAlt(localctx, 3)
                self.state = 472
                localctx.text = self._input.LT(1)
                _la = self._input.LA(1)
                if not(_la==29 or _la==30):
                    localctx.text = self._errHandler.recoverInline(self)
                else:
                    self._errHandler.reportMatch(self)
                    self.consume()
                pass
            elif token in [5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23]:
                self.enterOuterAlt(localctx, 4)
                self.state = 473
                localctx.id_ = self.path()
                pass
            elif token in [40]:
                self.enterOuterAlt(localctx, 5)
                self.state = 474
                localctx.list_ = self.match(MfidlParser.LBRACKET)
                self.state = 485
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                if (((_la) & ~0x3f) == 0 and ((1 << _la) & 27489938178016) != 0):
                    self.state = 475
                    localctx._value = self.value()
                    localctx.elements.append(localctx._value)
                    self.state = 482
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)
                    while _la==37:
                        self.state = 476
                        self.match(MfidlParser.COMMA)
                        self.state = 478
                        self._errHandler.sync(self)
                        _la = self._input.LA(1)
                        if (((_la) & ~0x3f) == 0 and ((1 << _la) & 27489938178016) != 0):
                            self.state = 477
                            localctx._value = self.value()
                            localctx.elements.append(localctx._value)


                        self.state = 484
                        self._errHandler.sync(self)
                        _la = self._input.LA(1)



                self.state = 487
                self.match(MfidlParser.RBRACKET)
                pass
            elif token in [44]:
                self.enterOuterAlt(localctx, 6)
                self.state = 488
                localctx.brace = self.match(MfidlParser.OPEN_BRACE)
                self.state = 499
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                if (((_la) & ~0x3f) == 0 and ((1 << _la) & 27489938178016) != 0):
                    self.state = 489
                    localctx._entry = self.entry()
                    localctx.entries.append(localctx._entry)
                    self.state = 496
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)
                    while _la==37:
                        self.state = 490
                        self.match(MfidlParser.COMMA)
                        self.state = 492
                        self._errHandler.sync(self)
                        _la = self._input.LA(1)
                        if (((_la) & ~0x3f) == 0 and ((1 << _la) & 27489938178016) != 0):
                            self.state = 491
                            localctx._entry = self.entry()
                            localctx.entries.append(localctx._entry)


                        self.state = 498
                        self._errHandler.sync(self)
                        _la = self._input.LA(1)



                self.state = 501
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
        self.enterRule(localctx, 56, self.RULE_entry)
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 504
            localctx.key = self.value()
            self.state = 505
            self.match(MfidlParser.COLON)
            self.state = 506
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
        self.enterRule(localctx, 58, self.RULE_integer)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 508
            localctx.token = self._input.LT(1)
            _la = self._input.LA(1)
            if not((((_la) & ~0x3f) == 0 and ((1 << _la) & 419430400) != 0)):
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
        self.enterRule(localctx, 60, self.RULE_path)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 510
            localctx._name = self.name()
            localctx.parts.append(localctx._name)
            self.state = 515
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            while _la==38:
                self.state = 511
                self.match(MfidlParser.DOT)
                self.state = 512
                localctx._name = self.name()
                localctx.parts.append(localctx._name)
                self.state = 517
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
        self.enterRule(localctx, 62, self.RULE_name)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 518
            localctx.token = self._input.LT(1)
            _la = self._input.LA(1)
            if not((((_la) & ~0x3f) == 0 and ((1 << _la) & 16777184) != 0)):
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





